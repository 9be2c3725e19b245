#include "rerank/policy.h"

#include <algorithm>
#include <map>

#include "text/normalize.h"

namespace stoka::rerank {
namespace {

bool ranks_before(const Hit& a, const Hit& b) {
  if (a.score != b.score) return a.score > b.score;
  if (a.chunk.slug != b.chunk.slug) return a.chunk.slug < b.chunk.slug;
  return a.chunk.index < b.chunk.index;
}

void apply_factor(Hit& hit, std::string_view rule, double factor) {
  hit.score *= factor;
  hit.factors.push_back({std::string(rule), factor});
}

// Whether the query asks for something by name.
bool is_navigational(std::string_view query) {
  std::string folded = text::fold(query);
  for (std::string_view opener : {"what is ", "what's ", "tell me about ", "do you have "})
    if (folded.starts_with(opener)) return true;
  return false;
}

}  // namespace

std::vector<Hit> apply_policy(std::vector<Hit> hits, const PolicyContext& context,
                              const PolicyOptions& options, std::vector<Hit>* dropped) {
  bool navigational = is_navigational(context.query);
  for (Hit& hit : hits) {
    hit.score = hit.raw_score;
    hit.factors.clear();
    if (context.shown.contains(hit.chunk.slug)) apply_factor(hit, "shown", options.shown);
    if (context.turns >= options.deep_reader_turns && hit.chunk.has_tag("philosophy"))
      apply_factor(hit, "deep-reader", options.deep_reader);
    if (hit.chunk.date) {
      auto age = (context.today - *hit.chunk.date).count();
      if (age >= 0 && age <= options.recent_days) apply_factor(hit, "recent", options.recent);
    }
    if (navigational && hit.chunk.type == "product")
      apply_factor(hit, "navigational", options.navigational);
  }
  std::sort(hits.begin(), hits.end(), ranks_before);

  std::map<std::string, size_t> chunks_of;  // how many hits of each slug were seen so far
  std::vector<Hit> kept, rejected;
  for (Hit& hit : hits) {
    size_t before = chunks_of[hit.chunk.slug]++;
    if (before > 0) apply_factor(hit, "same-source", options.same_source);
    (before < options.max_per_slug ? kept : rejected).push_back(std::move(hit));
  }
  for (Hit& hit : kept) hit.score = std::clamp(hit.score, 0.0, 1.0);
  std::sort(kept.begin(), kept.end(), ranks_before);
  if (kept.size() > options.keep) {
    std::move(kept.begin() + static_cast<long>(options.keep), kept.end(),
              std::back_inserter(rejected));
    kept.resize(options.keep);
  }
  if (dropped) *dropped = std::move(rejected);
  return kept;
}

ConfidenceResult classify_confidence(std::span<const Hit> hits,
                                     const ConfidenceThresholds& thresholds) {
  double best = hits.empty() ? 0.0 : hits.front().score;
  if (hits.empty() || best < thresholds.nothing) return {Confidence::nothing, false};
  if (best >= thresholds.direct) return {Confidence::direct, false};
  return {Confidence::adjacent, best < thresholds.adjacent};
}

}  // namespace stoka::rerank
