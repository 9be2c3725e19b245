#include "eval/stages.h"

#include <doctest/doctest.h>

#include "built_in.h"
#include "support/site_fixture.h"

namespace stages_test {

using namespace stoka;
using namespace stoka::testing;
using namespace stoka::eval;

namespace {

std::vector<Query> built_in_queries() {
  Cases out;
  REQUIRE(read_cases(built_in("retrieval.jsonl"), "retrieval.jsonl", "", out));
  return std::move(out.queries);
}

Query query(const std::string& text, const Gains& relevant) {
  return {"q", text, {relevant.begin(), relevant.end()}, "", ""};
}

QueryRuns run(SiteFixture& site, std::span<const Query> queries) {
  const auto subject = SystemUnderTest::make(site.engine(), {}).value();
  return run_queries(subject->engine(), queries, {}, {}).value();
}

constexpr size_t kLexical = 0, kDense = 1, kFused = 2, kReranked = 3, kPolicy = 4;

struct UnavailableReranker final : rerank::Reranker {
  int asked = 0;
  std::string name() const override { return "nobody"; }
  Result<rerank::Scores> score(std::string_view, std::span<const Hit>, std::stop_token) override {
    ++asked;
    return fail(ErrorKind::unavailable, "nobody answers");
  }
};

}  // namespace

TEST_CASE("every stage ranks distinct documents, best first") {
  SiteFixture site;
  const std::vector<Query> queries = {
      query("tell me about bounded execution", {{"philosophy-bounded-execution", 3}})};
  const QueryRuns runs = run(site, queries);
  REQUIRE(runs.runs.size() == 1);
  CHECK(runs.dense);
  for (size_t stage = 0; stage < kStages.size(); ++stage) {
    CAPTURE(std::string(kStages[stage]));
    const StageRun& one = runs.runs[0].stages[stage];
    REQUIRE(!one.documents.empty());
    CHECK(one.ms > 0);
    std::set<std::string> seen;
    for (size_t i = 0; i < one.documents.size(); ++i) {
      CHECK(seen.insert(one.documents[i].document).second);
      if (i > 0 && stage != kPolicy) CHECK(one.documents[i].score <= one.documents[i - 1].score);
    }
    CHECK(one.documents[0].document == "philosophy-bounded-execution");
    CHECK(runs.runs[0].scores[stage].mrr == 1);
  }
  CHECK(runs.runs[0].stages[kLexical].documents.size() <= kStageDepth);
  CHECK(runs.runs[0].verdict.confidence == Confidence::direct);
  CHECK(runs.runs[0].best_score > 0.82);
}

TEST_CASE("the lexical mode uses no vectors") {
  SiteFixture site;
  site.settings.retrieve.mode = retrieve::Mode::lexical;
  const std::vector<Query> queries = {query("what is Kvitto", {{"kvitto", 3}})};
  const QueryRuns runs = run(site, queries);
  CHECK(!runs.dense);
  CHECK(runs.runs[0].stages[kDense].documents.empty());
  CHECK(!runs.runs[0].stages[kFused].documents.empty());
}

TEST_CASE("on the built-in queries no stage is worse than the one before it") {
  SiteFixture site;
  const std::vector<Query> queries = built_in_queries();
  REQUIRE(queries.size() >= 50);
  const QueryRuns runs = run(site, queries);
  const auto ndcg = [&](size_t stage) { return stage_mean(runs, queries, stage).ndcg_10; };
  CHECK(ndcg(kFused) >= ndcg(kLexical));
  CHECK(ndcg(kReranked) >= ndcg(kFused));
  CHECK(ndcg(kPolicy) >= ndcg(kReranked));
  CHECK(stage_mean(runs, queries, kPolicy).hit_5 >= 0.9);
  size_t answerable = 0;
  for (const Query& one : queries) answerable += one.relevant.empty() ? 0 : 1;
  const std::vector<CaseResult> results = query_results(runs, queries);
  CHECK(results.size() == answerable);
  for (const CaseResult& one : results) {
    CHECK(one.suite == "retrieval");
    CHECK(one.passed() == one.why.empty());
    CHECK(one.scores.at("hit@5") == (one.passed() ? 1 : 0));
  }
}

TEST_CASE("a broken reranker lowers the scores of the stages after it only") {
  SiteFixture site, broken;
  broken.reranker = std::make_unique<Backwards>(*broken.store);
  const std::vector<Query> queries = built_in_queries();
  const QueryRuns good = run(site, queries);
  const QueryRuns bad = run(broken, queries);
  CHECK(stage_mean(bad, queries, kFused).ndcg_10 == stage_mean(good, queries, kFused).ndcg_10);
  CHECK(stage_mean(bad, queries, kReranked).ndcg_10 <
        stage_mean(good, queries, kReranked).ndcg_10 - 0.2);
  CHECK(stage_mean(bad, queries, kPolicy).hit_1 < 0.3);
}

TEST_CASE(
    "an unavailable reranker gives an error, and after several failures no more queries are run") {
  SiteFixture site;
  auto reranker = std::make_unique<UnavailableReranker>();
  const UnavailableReranker& counted = *reranker;
  site.reranker = std::move(reranker);
  const std::vector<Query> queries(40, query("what is Kvitto", {{"kvitto", 3}}));
  const QueryRuns runs = run(site, queries);
  REQUIRE(runs.runs.size() == 40);
  for (const QueryRun& one : runs.runs) {
    REQUIRE(one.error);
    CHECK(one.error->kind == ErrorKind::unavailable);
  }
  CHECK(counted.asked < 15);
  for (const CaseResult& one : query_results(runs, queries)) CHECK(one.errors == 1);
  CHECK(stage_mean(runs, queries, kFused).mrr == 0);
}

TEST_CASE("a query without hits scores 0") {
  SiteFixture site;
  const std::vector<Query> queries = {query("zzzzqqq xyzzy", {{"kvitto", 3}})};
  const QueryRuns runs = run(site, queries);
  CHECK(!runs.runs[0].error);
  CHECK(runs.runs[0].scores[kPolicy].ndcg_10 == 0);
  CHECK(runs.runs[0].verdict.confidence == Confidence::nothing);
  CHECK(query_results(runs, queries)[0].answer == "nothing");
}

}  // namespace stages_test
