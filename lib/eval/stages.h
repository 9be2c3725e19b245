// Retrieval, stage by stage, so that each stage shows what it is worth: what the lexical search
// finds, what the dense one finds, both fused, reranked, and after the policy.
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
#include "rerank/confidence.h"

namespace stoka::eval {

inline constexpr std::array<std::string_view, 5> kStages = {"lexical", "dense", "fused", "reranked",
                                                            "policy"};
inline constexpr size_t kStageDepth = 100;  // chunks that lexical, dense and fused go down to

// What one stage made of one query.
struct StageRun {
  std::vector<Ranked> documents;  // best first, each once, by its best chunk
  double ms = 0;  // from the query to this ranking: embedding and what comes before are in it
};

struct QueryRun {
  std::array<StageRun, kStages.size()> stages;  // as kStages
  std::array<RankingScores, kStages.size()> scores;
  double best_score = 0;  // of the first after the policy; what confidence is made of
  rerank::Verdict verdict;
  std::optional<Error> error;  // nothing else counts then
};

struct QueryRuns {
  std::vector<QueryRun> runs;  // one a query, in order
  bool dense = true;           // false: retrieval.mode is lexical, and nobody is asked for vectors
};

// Each query as the first question of a session. A query whose retrieval fails has its error; when
// several in a row cannot reach a server, the rest are not tried. One after another, so that the
// times mean something. Only `cancelled` is an error of the whole.
Result<QueryRuns> run_queries(pipeline::Engine& engine, std::span<const Query> queries,
                              const Progress& progress, std::stop_token stop);

// The mean scores of one stage over the queries that something is relevant to.
RankingScores stage_mean(const QueryRuns& runs, std::span<const Query> queries, size_t stage);

// Cases of the suite "retrieval": a query passes if a relevant document is among the first five
// after the policy. Queries without relevant documents are for calibration and not among them.
std::vector<CaseResult> query_results(const QueryRuns& runs, std::span<const Query> queries);

}  // namespace stoka::eval
