#include "rerank/confidence.h"

namespace stoka::rerank {

Verdict classify(std::span<const Hit> hits, const Thresholds& thresholds) {
  double best = hits.empty() ? 0.0 : hits.front().score;
  if (hits.empty() || best < thresholds.nothing) return {Confidence::nothing, false};
  if (best >= thresholds.direct) return {Confidence::direct, false};
  return {Confidence::adjacent, best < thresholds.adjacent};
}

}  // namespace stoka::rerank
