#include "rerank/order.h"

#include <algorithm>
#include <functional>

namespace stoka::rerank {

Scores retrieval_scores(std::span<const Hit> hits, const Thresholds& thresholds) {
  std::vector<double> cosines;
  for (const Hit& hit : hits) cosines.push_back(std::clamp(hit.cosine, 0.0, 1.0));
  std::sort(cosines.begin(), cosines.end(), std::greater<>());
  const bool none = cosines.empty() || cosines.front() == 0;
  Scores out;
  for (size_t i = 0; i < hits.size(); ++i)
    out.emplace_back(none ? thresholds.nothing * hits[i].fused / hits.front().fused : cosines[i]);
  return out;
}

void set_raw(std::span<Hit> hits, const Scores& scores) {
  std::vector<double> given;
  for (const std::optional<double>& score : scores)
    if (score) given.push_back(*score);
  std::sort(given.begin(), given.end(), std::greater<>());
  for (size_t i = 0; i < hits.size(); ++i) {
    hits[i].unscored = !scores[i];
    hits[i].raw = scores[i].value_or(given[std::min(i, given.size() - 1)]);
  }
}

}  // namespace stoka::rerank
