// How sure an answer may sound, from the best score after the policy.
#pragma once

#include <span>

#include "model/hit.h"

namespace stoka::rerank {

struct Thresholds {
  double direct = 0.82;    // from here on: speaks with authority
  double adjacent = 0.65;  // from here on: frames it as a stretch
  double nothing = 0.50;   // below: no answer. Between this and adjacent: low confidence
};

struct Verdict {
  Confidence confidence = Confidence::nothing;
  bool low_confidence = false;
};

// hits: best first. No hits is nothing.
Verdict classify(std::span<const Hit> hits, const Thresholds& thresholds);

}  // namespace stoka::rerank
