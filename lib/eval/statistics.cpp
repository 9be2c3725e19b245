#include "eval/statistics.h"

#include <algorithm>
#include <cmath>

namespace stoka::eval {

Interval wilson_interval(double share, double n) {
  constexpr double kZ = 1.959963984540054;  // the 97.5 % quantile of the normal distribution
  if (!(n > 0)) return {};
  const double p = std::clamp(share, 0.0, 1.0);
  const double zz = kZ * kZ / n;
  const double middle = (p + zz / 2) / (1 + zz);
  const double half = std::sqrt(p * (1 - p) * zz + zz * zz / 4) / (1 + zz);
  return {std::clamp(middle - half, 0.0, p), std::clamp(middle + half, p, 1.0)};
}

LatencyPercentiles latency_percentiles(std::vector<double> ms) {
  if (ms.empty()) return {};
  std::sort(ms.begin(), ms.end());
  const auto at = [&](double share) {
    return ms[static_cast<size_t>(std::ceil(share * static_cast<double>(ms.size()))) - 1];
  };
  return {at(0.50), at(0.95)};
}

}  // namespace stoka::eval
