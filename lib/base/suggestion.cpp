#include "base/suggestion.h"

#include <algorithm>
#include <vector>

namespace stoka {
namespace {

// Returns the optimal string alignment distance of two words: an insertion, a deletion, a
// replacement and a swap of two neighbours cost one each.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t replace = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::string closest_match(std::string_view word, std::span<const std::string> known) {
  if (word.size() > 64) return {};
  size_t best = std::max<size_t>(1, word.size() / 3) + 1;
  std::string found;
  for (const std::string& candidate : known) {
    size_t d = distance(word, candidate);
    if (d < best) best = d, found = candidate;
  }
  return found;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> known) {
  std::string found = closest_match(word, known);
  return found.empty() ? "" : ", did you mean '" + found + "'?";
}

}  // namespace stoka
