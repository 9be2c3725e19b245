// Scores for hits without a score from a reranker.
#pragma once

#include "rerank/builtin.h"
#include "rerank/reranker.h"

namespace stoka::rerank {

// Writes the scores into Hit::raw_score. A hit without a score that is in place i of the retrieval
// order gets the i-th best of the scores, or the worst if there are fewer. Both lists must have the
// same size, and at least one score must be there.
void set_raw_scores(std::span<Hit> hits, const Scores& scores);

// Gives hits a score that keeps the order of retrieval; used if reranking is off or the reranker
// fails. Fused scores and cosines cannot be used as scores, because their scale differs from model
// to model and confidence thresholds need a fixed one. So the hits get the scores of the built-in
// reranker in descending order, made strictly descending where two are equal.
class RetrievalOrder final : public Reranker {
 public:
  RetrievalOrder() = default;
  explicit RetrievalOrder(store::IndexReader& index) : builtin_(index) {}
  std::string name() const override { return "none"; }
  Result<Scores> score(std::string_view query, std::span<const Hit> hits,
                       std::stop_token stop) override;

 private:
  BuiltinReranker builtin_;
};

}  // namespace stoka::rerank
