// Collects the best scores of a scan. Scores are gathered in batches instead of a heap, so that a
// scan does little more than compare each score with a threshold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stoka::search {

struct Scored {
  int64_t id = 0;
  double score = 0;
};

// The order of results: higher scores first, ties by lower id.
bool ranks_before(const Scored& a, const Scored& b);

// Keeps the k best of the scores that are offered, and all others that are below the k-th by no
// more than `margin` times its absolute value. The object is not thread safe.
class TopScores {
 public:
  TopScores(size_t k, double margin);

  // A score below the threshold need not be offered. The threshold rises as scores are offered.
  float threshold() const { return threshold_; }
  // Offers a score. NaN is ignored.
  void offer(float score, int64_t id) {
    if (!(score >= threshold_)) return;
    kept_.push_back({id, score});
    if (kept_.size() >= full_) shrink();
  }
  // Returns the kept scores in no particular order. Call it once, as the last function.
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
