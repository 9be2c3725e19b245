// What stands in for a reranker's score where there is none.
#pragma once

#include "rerank/builtin.h"
#include "rerank/reranker.h"

namespace stoka::rerank {

// Writes raw scores into the hits. One without a score gets that of the place retrieval gave it
// among those that have one. Sizes must be equal and one score at least must be there.
void set_raw(std::span<Hit> hits, const Scores& scores);

// No reranker: retrieval decides the order. How sure an answer may be, no fused score and no cosine
// can say, as each model has a scale of its own: the figures are those of the built-in scorer, best
// first and no two alike.
class RetrievalOrder final : public Reranker {
 public:
  RetrievalOrder() = default;
  explicit RetrievalOrder(store::Store& store) : measure_(store) {}
  std::string name() const override { return "none"; }
  Result<Scores> score(std::string_view query, std::span<const Hit> hits,
                       std::stop_token stop) override;

 private:
  BuiltinReranker measure_;
};

}  // namespace stoka::rerank
