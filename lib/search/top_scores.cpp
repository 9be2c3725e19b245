#include "search/top_scores.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stoka::search {
namespace {

// Shrinking looks at all kept scores, so it is done only when about half of them can be removed.
size_t next_shrink(size_t kept, size_t k) { return std::max(kept, k) * 2 + 64; }

}  // namespace

bool ranks_before(const Scored& a, const Scored& b) {
  return a.score != b.score ? a.score > b.score : a.id < b.id;
}

TopScores::TopScores(size_t k, double margin)
    : k_(k),
      margin_(margin),
      full_(next_shrink(0, std::min(k, size_t{1} << 20))),
      threshold_(k == 0 ? std::numeric_limits<float>::infinity()
                        : -std::numeric_limits<float>::infinity()) {}

void TopScores::shrink() {
  if (kept_.size() > k_) {
    const auto kth = kept_.begin() + static_cast<std::ptrdiff_t>(k_ - 1);
    std::nth_element(kept_.begin(), kth, kept_.end(),
                     [](const Scored& a, const Scored& b) { return a.score > b.score; });
    threshold_ = static_cast<float>(kth->score - std::abs(kth->score) * margin_);
    std::erase_if(kept_, [this](const Scored& s) { return s.score < double(threshold_); });
  }
  full_ = next_shrink(kept_.size(), std::min(k_, kept_.size()));
}

std::vector<Scored> TopScores::take() {
  if (k_ > 0) shrink();
  return std::move(kept_);
}

}  // namespace stoka::search
