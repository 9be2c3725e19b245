#include "eval/latency.h"

#include <algorithm>
#include <cmath>

namespace stoka::eval {

Milliseconds percentiles(std::vector<double> ms) {
  if (ms.empty()) return {};
  std::sort(ms.begin(), ms.end());
  const auto at = [&](double share) {
    return ms[static_cast<size_t>(std::ceil(share * static_cast<double>(ms.size()))) - 1];
  };
  return {at(0.50), at(0.95)};
}

}  // namespace stoka::eval
