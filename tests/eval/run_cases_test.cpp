#include "eval/run_cases.h"

#include <doctest/doctest.h>

#include <atomic>

#include "built_in.h"
#include "support/site_fixture.h"

namespace run_cases_test {

using namespace stoka;
using namespace stoka::testing;
using namespace stoka::eval;

namespace {

std::vector<Case> cases(std::string_view lines) {
  Cases out;
  REQUIRE(read_cases(lines, "test.jsonl", "dataset", out));
  return std::move(out.cases);
}

CaseRun run(SiteFixture& site, std::string_view lines, size_t repeat = 1, size_t jobs = 1) {
  const auto subject = SystemUnderTest::make(site.engine(), {}).value();
  return run_cases(*subject, cases(lines), phrases(), {repeat, jobs, {}}, {}).value();
}

// Generates the given number of answers, then fails like an unavailable server.
struct FailingGenerator final : generate::Generator {
  explicit FailingGenerator(int answers = 0) : left(answers) {}
  std::atomic<int> left;
  std::atomic<int> asked = 0;
  std::string name() const override { return "gone"; }
  bool reads_prompt() const override { return true; }
  Result<std::unique_ptr<generate::GenerationStream>> begin(
      const generate::GenerationRequest& request, std::stop_token) override {
    ++asked;
    if (left-- <= 0) return fail(ErrorKind::unavailable, "nobody answers");
    return generate::known_answer(
        {"read it. <cite slug=\"" + request.hits.front().chunk.slug + "\" quote=\"\"/>"});
  }
};

struct NoReranker final : rerank::Reranker {
  std::string name() const override { return "none there"; }
  Result<rerank::Scores> score(std::string_view, std::span<const Hit>, std::stop_token) override {
    return fail(ErrorKind::unavailable, "no reranker answers");
  }
};

constexpr std::string_view kAsk =
    R"({"id":"bounds","query":"tell me about bounded execution","ideal_cite":"philosophy-bounded-execution"})";

}  // namespace

TEST_CASE("a case is run and judged, and its result has the answer") {
  SiteFixture site;
  const CaseRun ran = run(site, kAsk);
  REQUIRE(ran.results.size() == 1);
  const CaseResult& one = ran.results[0];
  CHECK(one.passed());
  CHECK(one.pass_rate() == 1);
  CHECK(one.scores.at("citation_hit") == 1);
  CHECK(one.scores.at("quote_verified") == 1);
  CHECK(one.route == "new");
  CHECK(one.confidence == "direct");
  CHECK(one.best_score > 0.82);
  REQUIRE(one.citations.size() == 1);
  CHECK(one.citations[0].slug == "philosophy-bounded-execution");
  CHECK(!one.answer.empty());
  CHECK(ran.turn_ms.size() == 1);
  CHECK(!ran.error);
}

TEST_CASE("earlier turns belong to the same session, and their citations are not repeated") {
  SiteFixture site;
  const CaseRun ran = run(
      site,
      R"({"id":"again","before":["tell me about bounded execution"],"query":"tell me about bounded execution","must_not_cite":"philosophy-bounded-execution"}
{"id":"fresh","query":"tell me about bounded execution","must_cite":true,"ideal_cite":"philosophy-bounded-execution"})");
  CHECK(ran.results[0].passed());
  CHECK(ran.results[1].passed());
}

TEST_CASE("the seen slugs of a case reach the turn") {
  SiteFixture site;
  const CaseRun ran = run(
      site,
      R"({"id":"seen","query":"why do agents need limits?","seen":["philosophy-bounded-execution"],"must_not_cite":"philosophy-bounded-execution"})");
  CHECK(ran.results[0].passed());
}

TEST_CASE("a scripted model output goes through the whole pipeline") {
  SiteFixture site;
  const CaseRun ran = run(
      site,
      R"({"id":"bad-model","query":"tell me about bounded execution","model":"Hello! Great question. read it. <cite slug=\"philosophy-bounded-execution\" quote=\"this is not in it at all\"/> <cite slug=\"made-up\" quote=\"x\"/>","fail_if":["greeting","flattery","invented"],"must_cite":true})");
  CHECK_MESSAGE(ran.results[0].passed(), (ran.results[0].why.empty() ? "" : ran.results[0].why[0]));
  CHECK(ran.results[0].citations.size() == 1);
  CHECK(ran.results[0].answer == "read it.\n\n[1]");
}

TEST_CASE("answers do not depend on the run or on the number of jobs") {
  SiteFixture site;
  std::string lines;
  for (int i = 0; i < 24; ++i)
    lines += R"({"id":"q)" + std::to_string(i) +
             R"(","before":["what is Kvitto?"],"query":"and what about its backups )" +
             std::to_string(i) + "\"}\n";
  const auto shown = [](const CaseRun& ran) {
    std::string out;
    for (const CaseResult& one : ran.results) {
      out += one.id + one.answer + one.route;
      for (const Citation& citation : one.citations) out += citation.slug + citation.quote;
    }
    return out;
  };
  const std::string once = shown(run(site, lines));
  CHECK(shown(run(site, lines)) == once);
  CHECK(shown(run(site, lines, 1, 8)) == once);
  CHECK(shown(run(site, lines, 3, 4)) == once);
}

TEST_CASE("an evaluation does not change the store") {
  SiteFixture site;
  run(site, kAsk);
  CHECK(site.store->all_shown_slugs().value().empty());
  CHECK(site.store->sessions_after("", 10).value().empty());
}

TEST_CASE("repeated trials are counted, and errors are kept apart") {
  SiteFixture site;
  auto failing = std::make_unique<FailingGenerator>(3);
  site.generator = std::move(failing);
  const CaseRun ran = run(site, kAsk, 4);
  const CaseResult& one = ran.results[0];
  CHECK(one.trials == 3);
  CHECK(one.passes == 3);
  CHECK(one.errors == 1);
  CHECK(one.error == "nobody answers");
  CHECK(one.pass_rate() == 1);
  CHECK(!one.passed());  // one trial could not be run
  REQUIRE(ran.error);
  CHECK(ran.error->kind == ErrorKind::unavailable);
}

TEST_CASE("after several failures to reach a server the remaining trials are not attempted") {
  SiteFixture site;
  auto failing = std::make_unique<FailingGenerator>();
  const FailingGenerator& counted = *failing;
  site.generator = std::move(failing);
  const CaseRun ran = run(site, kAsk, 100);
  CHECK(ran.results[0].errors == 100);
  CHECK(ran.results[0].trials == 0);
  CHECK(counted.asked < 20);
  CHECK(ran.error->kind == ErrorKind::unavailable);
}

TEST_CASE("a failed reranker is an error of the trial") {
  SiteFixture site;
  site.reranker = std::make_unique<NoReranker>();
  const CaseRun ran = run(site, kAsk);
  CHECK(ran.results[0].errors == 1);
  CHECK(ran.results[0].passes == 0);
  CHECK(ran.error->message.find("no reranker answers") != std::string::npos);
}

TEST_CASE("a stop request cancels the run") {
  SiteFixture site;
  const auto subject = SystemUnderTest::make(site.engine(), {}).value();
  std::stop_source stop;
  std::string lines;
  for (int i = 0; i < 50; ++i)
    lines += R"({"id":"q)" + std::to_string(i) + R"(","query":"what is Kvitto?"})" + "\n";
  size_t reported = 0;
  const auto ran = run_cases(*subject, cases(lines), phrases(),
                             {1, 2,
                              [&](size_t done, size_t total) {
                                reported = done;
                                CHECK(total == 50);
                                if (done == 3) stop.request_stop();
                              }},
                             stop.get_token());
  REQUIRE(!ran);
  CHECK(ran.error().kind == ErrorKind::cancelled);
  CHECK(reported < 10);
}

TEST_CASE("an empty index cannot be evaluated") {
  SiteFixture site(false);
  const auto subject = SystemUnderTest::make(site.engine(), {});
  REQUIRE(!subject);
  CHECK(exit_code(subject.error().kind) == 3);
}

TEST_CASE("the day of the evaluation is that of the newest page") {
  SiteFixture site;
  CHECK(iso_date(SystemUnderTest::make(site.engine(), {}).value()->day()) == "2026-11-15");
}

}  // namespace run_cases_test
