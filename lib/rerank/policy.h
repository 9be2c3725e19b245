// The editorial policy: named rules over reranker scores, each leaving a receipt. Pure.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/date.h"
#include "model/hit.h"

namespace stoka::rerank {

struct PolicyOptions {
  double shown = 0.1;        // slug was shown in the session, or the client has seen it
  double deep_reader = 1.3;  // tag "philosophy" once the session has deep_reader_turns
  int deep_reader_turns = 4;
  double recent = 1.15;  // published within recent_days before today
  int recent_days = 30;
  double navigational = 1.2;  // a product, asked for by name
  double same_source = 0.6;   // a further chunk of a slug already taken
  size_t max_per_slug = 2;
  size_t keep = 5;
};

struct PolicyContext {
  std::string query;
  std::set<std::string, std::less<>> shown;  // of the session and of the client
  int turns = 0;                             // of the session before this one
  Date today{};
};

// Multiplies each hit's raw score by the factors that apply, orders by score, thins out chunks of
// one source, clamps to [0,1] and keeps the best. Ties by slug, then chunk index. Hits that were
// not kept are returned by `dropped` when it is given, with their receipts.
std::vector<Hit> apply_policy(std::vector<Hit> hits, const PolicyContext& context,
                              const PolicyOptions& options, std::vector<Hit>* dropped = nullptr);

// Whether the query asks for a thing by name: "what is …", "tell me about …", "do you have …".
bool is_navigational(std::string_view query);

}  // namespace stoka::rerank
