// The built-in reranker: a calibrated score of a few simple features, without a network or a model.
#pragma once

#include "rerank/features.h"
#include "rerank/reranker.h"
#include "store/index_reader.h"

namespace stoka::rerank {

// The weights of a logistic regression over the features of rerank/features.h. The score is
// 1 / (1 + exp(-(bias + sum of weight * feature))).
struct Calibration {
  double bias = 0;
  Features weights{};
  double score(const Features& features) const;
};

// The calibration in use. It was fitted by `bench_calibrate --fit` (tests/bench/calibrate.cpp) to
// the questions under evals/calibration that are not held out. A score of 0.5 means that the chunk
// is as likely as not to answer the question. For the fit, words such as "best" and "think" were
// left out of every question: on the held-out questions this calibration ranks the right document
// first for 80 %; a calibration fitted to the unchanged questions does so for 77 %.
const Calibration& calibration();

// The minimum score of the best chunk of a document that the question names (see names_document()).
// A score at the minimum means low confidence. Without the minimum, words that no chunk has ("was
// ist debono", "is debono dead") would reject a document that the visitor asks for by its name.
inline constexpr double kMinNamedScore = 0.55;

// One score for each hit. `features` has the features of the hits, in the same order.
std::vector<double> score_hits(const Question& question, std::span<const Hit> hits,
                               std::span<const Features> features, const Calibration& calibration);

// The reranker weights the words of a question by their idf in the index. Without an index all
// words weigh the same. The hits need not come from a search: only their chunks are read, and the
// cosine if it is there. May be called from any thread. The index must outlive the reranker.
class BuiltinReranker final : public Reranker {
 public:
  BuiltinReranker() = default;
  explicit BuiltinReranker(store::IndexReader& index) : index_(&index) {}
  std::string name() const override { return "builtin"; }
  Result<Scores> score(std::string_view query, std::span<const Hit> hits,
                       std::stop_token stop) override;

  // Parses the question, and weights its words by their frequency in this index.
  Result<Question> question(std::string_view query) const;

 private:
  store::IndexReader* index_ = nullptr;
};

}  // namespace stoka::rerank
