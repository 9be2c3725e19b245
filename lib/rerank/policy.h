// The editorial policy: named rules that multiply the scores of the reranker, in answers and in
// discover. Each rule that applies to a hit leaves a receipt (Hit::factors). The functions are
// pure.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/date.h"
#include "model/hit.h"

namespace stoka::rerank {

// The factors of the rules are the settings policy.*; the other members are not settings. In a
// receipt, the name of a rule has hyphens for underscores.
struct PolicyOptions {
  double shown = 0.1;  // factor if the slug was shown in the session, or the client has seen it
  double deep_reader = 1.3;  // factor for the tag "philosophy", after deep_reader_turns
  int deep_reader_turns = 4;
  double recent = 1.15;  // factor for documents published at most recent_days before today
  int recent_days = 30;
  double navigational = 1.2;  // factor for products, if the query asks for something by name
  double same_source = 0.6;   // factor for a chunk if another one of its slug has a better score
  size_t max_per_slug = 2;
  size_t keep = 5;
};

struct PolicyContext {
  std::string query;
  std::set<std::string, std::less<>> shown;  // slugs shown in the session or seen by the client
  int turns = 0;                             // the number of turns of the session before this one
  Date today{};
};

// Multiplies the raw score of each hit by the factors that apply, lowers further chunks of one
// source and limits their number, clamps the scores to [0,1] and keeps the best `keep` hits.
// Returns them ordered by score, then slug, then chunk index. If `dropped` is given, it gets the
// other hits with their receipts.
std::vector<Hit> apply_policy(std::vector<Hit> hits, const PolicyContext& context,
                              const PolicyOptions& options, std::vector<Hit>* dropped = nullptr);

// Thresholds for the best score after the policy.
struct ConfidenceThresholds {
  double direct = 0.82;    // the minimum score of a direct answer
  double adjacent = 0.65;  // the minimum score of an answer that says that the match is a stretch
  double nothing = 0.50;   // no answer below; from here to `adjacent` the confidence is low
};

// How confident an answer may sound.
struct ConfidenceResult {
  Confidence confidence = Confidence::nothing;
  bool low_confidence = false;
};

// The hits must be ordered best first. Without hits the confidence is `nothing`.
ConfidenceResult classify_confidence(std::span<const Hit> hits,
                                     const ConfidenceThresholds& thresholds);

}  // namespace stoka::rerank
