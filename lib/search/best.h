// The best scores of a scan, gathered in batches instead of a heap: a scan compares each score with
// one threshold and only seldom does more.
#pragma once

#include <cstdint>
#include <vector>

#include "search/vectors.h"

namespace stoka::search {

// Keeps the k best offered scores and every other one that is not below the k-th by more than
// `margin` of its size. Not thread safe.
class Best {
 public:
  Best(size_t k, double margin);

  // A score below this need not be offered. Rises as scores come in.
  float threshold() const { return threshold_; }
  // A score that is not a number is left out.
  void offer(float score, int64_t id) {
    if (!(score >= threshold_)) return;
    kept_.push_back({id, score});
    if (kept_.size() >= full_) shrink();
  }
  // What was kept, in no order. The collector is used up.
  std::vector<Scored> take();

 private:
  void shrink();

  size_t k_;
  double margin_;
  size_t full_;
  float threshold_;
  std::vector<Scored> kept_;
};

}  // namespace stoka::search
