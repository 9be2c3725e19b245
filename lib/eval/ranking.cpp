#include "eval/ranking.h"

#include <algorithm>
#include <cmath>

namespace stoka::eval {
namespace {

constexpr size_t kNdcgDepth = 10;
constexpr size_t kRecallDepth = 20;

// The contribution of a gain to DCG; `rank` counts from 0.
double discounted(double gain, size_t rank) {
  return gain / std::log2(static_cast<double>(rank) + 2);
}

double best_dcg(const Gains& relevant) {
  std::vector<double> gains;
  for (const auto& [document, gain] : relevant) gains.push_back(gain);
  std::sort(gains.rbegin(), gains.rend());
  double dcg = 0;
  for (size_t i = 0; i < std::min(gains.size(), kNdcgDepth); ++i) dcg += discounted(gains[i], i);
  return dcg;
}

struct NamedScore {
  const char* name;
  double RankingScores::*value;
};

constexpr NamedScore kScores[] = {{"hit@1", &RankingScores::hit_1},
                                  {"hit@5", &RankingScores::hit_5},
                                  {"mrr", &RankingScores::mrr},
                                  {"ndcg@10", &RankingScores::ndcg_10},
                                  {"recall@20", &RankingScores::recall_20}};

}  // namespace

RankingScores score_ranking(std::span<const std::string> ranked, const Gains& relevant) {
  RankingScores scores;
  if (relevant.empty()) return scores;
  double dcg = 0;
  size_t found = 0;
  for (size_t i = 0; i < ranked.size(); ++i) {
    const auto gain = relevant.find(ranked[i]);
    if (gain == relevant.end()) continue;
    if (scores.mrr == 0) scores.mrr = 1 / (static_cast<double>(i) + 1);
    if (i < 1) scores.hit_1 = 1;
    if (i < 5) scores.hit_5 = 1;
    if (i < kNdcgDepth) dcg += discounted(gain->second, i);
    if (i < kRecallDepth) ++found;
  }
  scores.ndcg_10 = dcg / best_dcg(relevant);
  scores.recall_20 = static_cast<double>(found) / static_cast<double>(relevant.size());
  return scores;
}

RankingScores mean(std::span<const RankingScores> all) {
  RankingScores out;
  if (all.empty()) return out;
  for (const NamedScore& score : kScores) {
    for (const RankingScores& one : all) out.*score.value += one.*score.value;
    out.*score.value /= static_cast<double>(all.size());
  }
  return out;
}

std::vector<std::pair<std::string, double>> named(const RankingScores& scores) {
  std::vector<std::pair<std::string, double>> out;
  for (const NamedScore& score : kScores) out.emplace_back(score.name, scores.*score.value);
  return out;
}

}  // namespace stoka::eval
