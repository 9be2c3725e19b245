// How good a ranking is. Pure.
//
// The formulas are those of trec_eval: reciprocal rank of the first relevant document; DCG@k = the
// sum over ranks i of gain / log2(i + 1) (Järvelin and Kekäläinen 2002) with linear gains, divided
// by that of the best possible ranking.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace stoka::eval {

using Gains = std::map<std::string, double, std::less<>>;  // document to gain, above zero

struct RankingScores {
  double hit_1 = 0;  // the first document is relevant: 1, else 0
  double hit_5 = 0;  // one of the first five is
  double mrr = 0;    // reciprocal rank of the first relevant one; 0: there is none
  double ndcg_10 = 0;
  double recall_20 = 0;  // share of the relevant ones among the first twenty
};

// `ranked`: documents, best first, each once. Nothing relevant scores 0 throughout.
RankingScores score_ranking(std::span<const std::string> ranked, const Gains& relevant);

// The mean of each; of none 0.
RankingScores mean(std::span<const RankingScores> all);

// Names and values in the order of the table: {"hit@1", 0.9}, …
std::vector<std::pair<std::string, double>> named(const RankingScores& scores);

}  // namespace stoka::eval
