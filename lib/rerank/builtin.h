// The built-in reranker: a calibrated score from a few plain features, without network or model.
#pragma once

#include "rerank/features.h"
#include "rerank/reranker.h"
#include "store/store.h"

namespace stoka::rerank {

// How the features of rerank/features.h become a score: 1 / (1 + exp(-(bias + sum of weight *
// feature))).
struct Calibration {
  double bias = 0;
  Features weights{};
  double score(const Features& features) const;
};

// Fitted by `bench_calibrate --fit` (tests/bench/calibrate.cpp) to the questions under
// evals/calibration that are not held out: 0.5 means as likely an answer as not. Of two fits this
// one is used, made with words such as "best" and "think" left out of every question: of those held
// out it ranks 80 % right at first, against 77 % of a fit to questions as they are scored.
const Calibration& calibration();

// The least that the best chunk of a document scores which the question names (see names()): low
// confidence. Words that the features find nowhere ("was ist debono", "is debono dead") do not turn
// a document that is asked for by its name into nothing.
inline constexpr double kNamed = 0.55;

// One score a hit, from features of the same hits.
std::vector<double> scores(const Question& question, std::span<const Hit> hits,
                           std::span<const Features> features, const Calibration& calibration);

// Words weigh by how rare they are in the store's index; without one all weigh the same. Hits may
// come from anywhere: nothing but the text of their chunk is needed. The store must outlive it.
class BuiltinReranker final : public Reranker {
 public:
  BuiltinReranker() = default;
  explicit BuiltinReranker(store::Store& store) : store_(&store) {}
  std::string name() const override { return "builtin"; }
  Result<Scores> score(std::string_view query, std::span<const Hit> hits,
                       std::stop_token stop) override;

  // The question as scored: its words with their weights in this index.
  Result<Question> question(std::string_view query) const;

 private:
  store::Store* store_ = nullptr;
};

}  // namespace stoka::rerank
