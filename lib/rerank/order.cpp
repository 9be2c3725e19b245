#include "rerank/order.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace stoka::rerank {

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

Result<Scores> RetrievalOrder::score(std::string_view query, std::span<const Hit> hits,
                                     std::stop_token stop) {
  STOKA_ASSIGN(Scores figures, measure_.score(query, hits, stop));
  std::sort(figures.begin(), figures.end(), std::greater<>());
  // Equal figures would be put in another order further on.
  for (size_t i = 1; i < figures.size(); ++i)
    if (*figures[i] >= *figures[i - 1]) figures[i] = std::nextafter(*figures[i - 1], -1.0);
  return figures;
}

}  // namespace stoka::rerank
