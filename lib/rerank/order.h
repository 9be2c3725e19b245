// What stands in for a reranker's score where there is none.
#pragma once

#include "rerank/confidence.h"
#include "rerank/reranker.h"

namespace stoka::rerank {

// The order stays that of retrieval, the figures are the raw similarities, best first. Where there
// are none (lexical retrieval), no more is claimed than that something was found.
Scores retrieval_scores(std::span<const Hit> hits, const Thresholds& thresholds);

// Writes raw scores into the hits. One without a score gets that of the place retrieval gave it
// among those that have one. Sizes must be equal and one score at least must be there.
void set_raw(std::span<Hit> hits, const Scores& scores);

// No reranker at all: retrieval decides.
class RetrievalOrder final : public Reranker {
 public:
  explicit RetrievalOrder(Thresholds thresholds) : thresholds_(thresholds) {}
  std::string name() const override { return "none"; }
  Result<Scores> score(std::string_view, std::span<const Hit> hits, std::stop_token) override {
    return retrieval_scores(hits, thresholds_);
  }

 private:
  Thresholds thresholds_;
};

}  // namespace stoka::rerank
