#include "rerank/order.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace stoka::rerank {

void set_raw_scores(std::span<Hit> hits, const Scores& scores) {
  std::vector<double> sorted;
  for (const std::optional<double>& score : scores)
    if (score) sorted.push_back(*score);
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  for (size_t i = 0; i < hits.size(); ++i) {
    hits[i].is_unscored = !scores[i];
    hits[i].raw_score = scores[i].value_or(sorted[std::min(i, sorted.size() - 1)]);
  }
}

Result<Scores> RetrievalOrder::score(std::string_view query, std::span<const Hit> hits,
                                     std::stop_token stop) {
  STOKA_ASSIGN(Scores scores, builtin_.score(query, hits, stop));
  std::sort(scores.begin(), scores.end(), std::greater<>());
  // The policy orders hits with equal scores by slug, which would change the order of retrieval.
  for (size_t i = 1; i < scores.size(); ++i)
    if (*scores[i] >= *scores[i - 1]) scores[i] = std::nextafter(*scores[i - 1], -1.0);
  return scores;
}

}  // namespace stoka::rerank
