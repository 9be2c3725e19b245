// Whole evaluations of the sample site, and whether they detect broken parts.
#include "eval/evaluate.h"

#include <doctest/doctest.h>

#include "built_in.h"
#include "eval/compare.h"
#include "eval/sweep.h"
#include "support/site_fixture.h"

namespace evaluate_test {

using namespace stoka;
using namespace stoka::testing;
using namespace stoka::eval;

namespace {

const Cases& cases() {
  static const Cases read = [] {
    Cases out;
    for (const std::string suite : {"constraints", "dataset", "conversations", "retrieval"})
      REQUIRE(read_cases(built_in(suite + ".jsonl"), suite + ".jsonl", suite, out));
    return out;
  }();
  return read;
}

// Runs all suites or one.
Report run(SiteFixture& site, const std::string& suite = "all") {
  Cases chosen = cases();
  const auto is_other = [&](std::string_view name) { return suite != "all" && suite != name; };
  std::erase_if(chosen.cases, [&](const Case& one) { return is_other(one.suite); });
  if (is_other("retrieval")) chosen.queries.clear();
  const auto subject = SystemUnderTest::make(site.engine(), {}).value();
  Evaluation done = evaluate(*subject, chosen, phrases(), 1, 2, {}, {}).value();
  done.report.suite = suite;
  return std::move(done.report);
}

const Report& baseline() {
  static const Report report = [] {
    SiteFixture site;
    return run(site);
  }();
  return report;
}

// The names of what is worse than the baseline, a line each.
std::string worse(const Report& report) {
  std::string out;
  for (const Change& change : compare(baseline(), report, 0.01, false).worse)
    out += change.what + "\n";
  return out;
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

double pass_rate(const Report& report, const std::string& suite) {
  return report.metrics.at(suite + ".pass_rate");
}

}  // namespace

TEST_CASE("the built-in parts pass all constraints and 90 % of the dataset") {
  const Report& report = baseline();
  CHECK(pass_rate(report, "constraints") == 1);
  CHECK(pass_rate(report, "dataset") >= 0.9);
  CHECK(report.metrics.at("dataset.quote_verified") == 1);
  CHECK(report.metrics.contains("conversations.pass_rate"));
  CHECK(report.metrics.at("calibration.direct_right") >= 0.9);
  CHECK(report.errors() == 0);
  CHECK(report.passed() + report.failed() == report.cases.size());
  CHECK(report.latency.contains("turn"));
  CHECK(report.latency.contains("retrieval.policy"));
  size_t queries = 0;
  for (const CaseResult& one : report.cases) queries += one.suite == "retrieval" ? 1 : 0;
  CHECK(queries >= 50);
}

TEST_CASE("every item of the NEVER list and each of the eight tests has a case") {
  std::set<int> items;
  std::set<std::string> ids;
  for (const Case& one : cases().cases) {
    if (one.suite != "constraints") continue;
    items.insert(one.never.begin(), one.never.end());
    ids.insert(one.id);
  }
  CHECK(items.size() == kNeverItems);
  for (const std::string id :
       {"no_greeting", "no_summary", "no_enthusiasm", "knows_limits", "earns_next_message",
        "no_apology", "brevity_before_cite", "no_bullet_lists"})
    CHECK_MESSAGE(ids.contains(id), id);
}

TEST_CASE("a second run gives the same report except for the member run") {
  SiteFixture site;
  const auto settled = [](Report report) {
    report.seconds = 0;
    report.latency.clear();
    return to_json(report);
  };
  const Report again = run(site);
  CHECK(settled(again) == settled(baseline()));
  CHECK(worse(again).empty());
}

TEST_CASE("a voice that greets is reported as a regression of the constraints") {
  SiteFixture site;
  site.golden.replies.find("identity")->second = {"Hello there! I'd be happy to help you."};
  site.golden.replies.find("nothing")->second = {"sorry, you might try a search engine."};
  const std::string lost = worse(run(site, "constraints"));
  CHECK(has(lost, "constraints/"));
  CHECK(has(lost, "constraints.pass_rate"));
  CHECK(!has(lost, "dataset"));
}

TEST_CASE("a voice guard without rules is reported as a regression") {
  SiteFixture site;
  site.guard.openers.clear();
  CHECK(has(worse(run(site, "constraints")), "constraints/"));
}

TEST_CASE("a broken reranker is reported as a regression of cases and of the later stages") {
  SiteFixture site;
  site.reranker = std::make_unique<Backwards>(*site.store);
  const std::string lost = worse(run(site, "retrieval"));
  CHECK(has(lost, "retrieval/"));
  CHECK(has(lost, "retrieval.reranked.ndcg@10"));
  CHECK(has(lost, "retrieval.policy.hit@1"));
  CHECK(!has(lost, "retrieval.fused."));
}

TEST_CASE("a lowered threshold is reported as a regression: unanswerable queries are answered") {
  SiteFixture site, little;
  site.settings.thresholds.nothing = 0.1;
  CHECK(has(worse(run(site, "dataset")), "dataset/void-"));
  little.settings.thresholds.nothing = 0.4;
  CHECK(has(worse(run(little, "retrieval")), "retrieval.refused"));
}

TEST_CASE("other thresholds and disabled policy rules are reported as regressions") {
  const auto with = [](auto change, const std::string& suite) {
    SiteFixture site;
    change(site.settings);
    return worse(run(site, suite));
  };
  using pipeline::Settings;
  CHECK(with([](Settings& s) { s.thresholds.direct = 0.9; }, "retrieval") != "");
  CHECK(with([](Settings& s) { s.thresholds.adjacent = 0.8; }, "dataset") != "");
  CHECK(with([](Settings& s) { s.policy.shown = 1; }, "dataset") != "");
  CHECK(with([](Settings& s) { s.policy.recent = 1; }, "retrieval") != "");
  CHECK(with([](Settings& s) { s.policy.navigational = 1; }, "dataset") != "");
}

TEST_CASE("a raised threshold is reported as a regression") {
  SiteFixture site;
  site.settings.thresholds.nothing = 0.8;
  CHECK(has(worse(run(site, "dataset")), "dataset/new-"));
}

TEST_CASE("the table lists the suites, the stages and the failed cases") {
  const std::string table = to_table(baseline(), false);
  for (const std::string_view part :
       {"constraints", "dataset", "conversations", "kind", "retrieval", "lexical", "reranked",
        "policy", "ndcg@10", "direct", "nothing", "failed", "found, but refused",
        "of the others refused", "-> void, nothing"})
    CHECK_MESSAGE(has(table, part), std::string(part));
  const std::string all = to_table(baseline(), true);
  for (const CaseResult& one : baseline().cases) {
    CHECK(has(all, one.suite + "/" + one.id));
    if (!one.passed()) CHECK(has(table, one.suite + "/" + one.id));
  }
}

TEST_CASE("progress is reported for every suite up to its end") {
  SiteFixture site;
  Cases few;
  for (const Case& one : cases().cases)
    if (few.cases.size() < 3 || (one.suite == "dataset" && few.cases.size() < 6))
      few.cases.push_back(one);
  few.queries = {cases().queries.front()};
  const auto subject = SystemUnderTest::make(site.engine(), {}).value();
  std::map<std::string, std::pair<size_t, size_t>> last;
  const auto progress = [&](std::string_view label, size_t done, size_t total) {
    CHECK(done == last[std::string(label)].first + 1);
    last[std::string(label)] = {done, total};
  };
  REQUIRE(evaluate(*subject, few, phrases(), 2, 3, progress, {}));
  CHECK(last.at("constraints") == std::pair<size_t, size_t>{6, 6});
  CHECK(last.at("dataset") == std::pair<size_t, size_t>{6, 6});
  CHECK(last.at("retrieval") == std::pair<size_t, size_t>{1, 1});
}

}  // namespace evaluate_test
