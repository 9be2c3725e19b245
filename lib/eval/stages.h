// Retrieval stage by stage: the ranking after lexical search, dense search, fusion, reranking and
// the policy, each with its scores, so that the contribution of each stage is visible.
#pragma once

#include <array>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "eval/case.h"
#include "eval/ranking.h"
#include "eval/run_cases.h"
#include "eval/trec.h"
#include "rerank/policy.h"

namespace stoka::eval {

inline constexpr std::array<std::string_view, 5> kStages = {"lexical", "dense", "fused", "reranked",
                                                            "policy"};
inline constexpr size_t kStageDepth = 100;  // chunks that the first three stages rank

// The ranking of one query after one stage.
struct StageRun {
  std::vector<RankedDocument> documents;  // documents, each at the rank of its best chunk
  double ms = 0;  // time from the query to this ranking, including earlier stages
};

struct QueryRun {
  std::array<StageRun, kStages.size()> stages;  // the runs in the order of kStages
  std::array<RankingScores, kStages.size()> scores;
  double best_score = 0;  // score of the first hit after the policy; it decides the confidence
  rerank::ConfidenceResult verdict;
  std::optional<Error> error;  // an error; if set, the other members are meaningless
};

struct QueryRuns {
  std::vector<QueryRun> runs;  // one for each query, in order
  bool dense = true;           // whether vectors are used; false if retrieval.mode is lexical
};

// Runs each query as the first question of a session, one after another, so that the latencies are
// meaningful. A query whose retrieval fails has its error; after several consecutive queries that
// cannot reach a server, the rest are not attempted. Fails only with `cancelled`.
Result<QueryRuns> run_queries(pipeline::Engine& engine, std::span<const Query> queries,
                              const Progress& progress, std::stop_token stop);

// The mean scores of one stage over the queries that have relevant documents.
RankingScores stage_mean(const QueryRuns& runs, std::span<const Query> queries, size_t stage);

// The results of the suite "retrieval". A query passes if a relevant document is among the first
// five after the policy. Queries without relevant documents serve only calibration and are left
// out.
std::vector<CaseResult> query_results(const QueryRuns& runs, std::span<const Query> queries);

}  // namespace stoka::eval
