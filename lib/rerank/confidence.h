// Decides how confident an answer may sound, from the best score after the policy.
#pragma once

#include <span>

#include "model/hit.h"

namespace stoka::rerank {

struct Thresholds {
  double direct = 0.82;    // scores from here on: the answer speaks with authority
  double adjacent = 0.65;  // scores from here on: the answer says that the match is a stretch
  double nothing = 0.50;   // scores below: no answer; from here to `adjacent`: low confidence
};

struct Verdict {
  Confidence confidence = Confidence::nothing;
  bool low_confidence = false;
};

// The hits must be ordered best first. Without hits the confidence is `nothing`.
Verdict classify(std::span<const Hit> hits, const Thresholds& thresholds);

}  // namespace stoka::rerank
