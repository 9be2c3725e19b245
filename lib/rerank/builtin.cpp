#include "rerank/builtin.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace stoka::rerank {

double Calibration::score(const Features& features) const {
  double sum = bias;
  for (size_t i = 0; i < kFeatureCount; ++i) sum += weights[i] * features[i];
  return 1.0 / (1.0 + std::exp(-sum));
}

const Calibration& calibration() {
  static constexpr Calibration kFitted{-3.08, {2.91, 1.64, 1.79, 2.38, 0.92}};
  return kFitted;
}

std::vector<double> score_hits(const Question& question, std::span<const Hit> hits,
                               std::span<const Features> features, const Calibration& calibration) {
  std::vector<double> out;
  std::map<std::string_view, size_t> best;  // the best hit of each named document, by slug
  for (size_t i = 0; i < hits.size(); ++i) {
    out.push_back(calibration.score(features[i]));
    if (!names_document(question, hits[i].chunk.title)) continue;
    size_t& best_hit = best.try_emplace(hits[i].chunk.slug, i).first->second;
    if (out[i] > out[best_hit]) best_hit = i;
  }
  for (const auto& [slug, i] : best) out[i] = std::max(out[i], kMinNamedScore);
  return out;
}

Result<Question> BuiltinReranker::question(std::string_view query) const {
  Question question = parse_question(query);
  if (index_ == nullptr) {
    question.compounds.clear();
    return question;
  }
  std::vector<std::string> terms;
  for (const QuestionTerm& word : question.words) terms.push_back(word.term);
  for (const QuestionTerm& compound : question.compounds) terms.push_back(compound.term);
  STOKA_ASSIGN(const search::CorpusStats stats, index_->corpus_stats());
  STOKA_ASSIGN(const std::vector<uint64_t> frequencies, index_->document_frequencies(terms));
  weight_terms(question, stats.documents, frequencies);
  return question;
}

Result<Scores> BuiltinReranker::score(std::string_view query, std::span<const Hit> hits,
                                      std::stop_token stop) {
  STOKA_ASSIGN(const Question parsed, question(query));
  if (stop.stop_requested()) return fail(ErrorKind::cancelled, "scoring was stopped");
  const std::vector<double> all =
      score_hits(parsed, hits, compute_features(parsed, hits), calibration());
  return Scores(all.begin(), all.end());
}

}  // namespace stoka::rerank
