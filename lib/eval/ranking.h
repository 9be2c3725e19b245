// Scores of a ranking, by the formulas of trec_eval. Pure.
//
// MRR is the reciprocal rank of the first relevant document. DCG@k is the sum over the ranks i up
// to k of gain / log2(i + 1) (Järvelin and Kekäläinen 2002) with linear gains; nDCG@k divides it by
// the DCG@k of the best possible ranking.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace stoka::eval {

using Gains = std::map<std::string, double, std::less<>>;  // gains above zero, by document

struct RankingScores {
  double hit_1 = 0;      // 1 if the first document is relevant, else 0
  double hit_5 = 0;      // 1 if one of the first five is relevant, else 0
  double mrr = 0;        // reciprocal rank of the first relevant document; 0 if none was found
  double ndcg_10 = 0;    // normalised discounted cumulative gain of the first ten documents
  double recall_20 = 0;  // share of the relevant documents among the first twenty
};

// `ranked` holds distinct documents, best first. All scores are 0 if nothing is relevant.
RankingScores score_ranking(std::span<const std::string> ranked, const Gains& relevant);

// The mean of each score; 0 if `all` is empty.
RankingScores mean(std::span<const RankingScores> all);

// Names and values in the order of the tables: {"hit@1", 0.9}, …
std::vector<std::pair<std::string, double>> named(const RankingScores& scores);

}  // namespace stoka::eval
