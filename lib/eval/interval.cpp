#include "eval/interval.h"

#include <algorithm>
#include <cmath>

namespace stoka::eval {

Interval wilson(double share, double n) {
  constexpr double kZ = 1.959963984540054;  // 97.5 % of a normal distribution lie below
  if (!(n > 0)) return {};
  const double p = std::clamp(share, 0.0, 1.0);
  const double zz = kZ * kZ / n;
  const double middle = (p + zz / 2) / (1 + zz);
  const double half = std::sqrt(p * (1 - p) * zz + zz * zz / 4) / (1 + zz);
  return {std::clamp(middle - half, 0.0, p), std::clamp(middle + half, p, 1.0)};
}

}  // namespace stoka::eval
