#include "eval/compare.h"

#include <doctest/doctest.h>

namespace compare_test {

using namespace stoka;
using namespace stoka::eval;

namespace {

CaseResult result(std::string suite, std::string id, size_t passes, size_t trials = 1) {
  CaseResult out;
  out.suite = std::move(suite);
  out.id = std::move(id);
  out.trials = trials;
  out.passes = passes;
  if (passes < trials) out.why = {"citation_hit: cites b", "brevity: 5 sentences"};
  return out;
}

CaseResult not_run(std::string suite, std::string id) {
  CaseResult out = result(std::move(suite), std::move(id), 0, 0);
  out.errors = 1;
  return out;
}

Report report(std::vector<CaseResult> cases, std::map<std::string, double> metrics = {},
              std::string suite = "all") {
  Report out;
  out.suite = std::move(suite);
  out.cases = std::move(cases);
  out.metrics = std::move(metrics);
  return out;
}

std::vector<std::string> names(const std::vector<Change>& changes) {
  std::vector<std::string> out;
  for (const Change& change : changes) out.push_back(change.what);
  return out;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a report compared with itself has no changes") {
  const Report same =
      report({result("dataset", "a", 1), result("dataset", "b", 0)}, {{"dataset.pass_rate", 0.5}});
  const Comparison comparison = compare(same, same, 0, false);
  CHECK_FALSE(comparison.regressed());
  CHECK(comparison.better.empty());
  CHECK(comparison.new_failures.empty());
  CHECK(to_text(comparison) == "0 worse, 0 better, 0 new and failing (tolerance 0)\n");
}

TEST_CASE("a metric equals the same metric read from a file") {
  for (const double exact : {1.0 / 3, 2.0 / 3, 0.99995, 1e-6}) {
    const Report now = report({result("dataset", "a", 2, 3)}, {{"dataset.pass_rate", exact}});
    const Result<Report> file = read_report(to_json(now), "file");
    REQUIRE(file);
    CHECK_FALSE(compare(*file, now, 0, false).regressed());
    CHECK(compare(*file, now, 0, false).better.empty());
  }
}

TEST_CASE("a case that fails now is listed as worse, with the reasons") {
  const Comparison comparison =
      compare(report({result("dataset", "a", 1), result("dataset", "b", 0)}),
              report({result("dataset", "a", 0), result("dataset", "b", 1)}), 0, false);
  REQUIRE(comparison.worse.size() == 1);
  CHECK(comparison.regressed());
  CHECK(comparison.worse[0].what == "dataset/a");
  CHECK(comparison.worse[0].before == 1);
  CHECK(comparison.worse[0].now == 0);
  CHECK(comparison.worse[0].why == "citation_hit: cites b; brevity: 5 sentences");
  REQUIRE(comparison.better.size() == 1);
  CHECK(comparison.better[0].what == "dataset/b");
  CHECK(comparison.better[0].why.empty());
}

TEST_CASE("a lower score is reported only if the loss exceeds the tolerance") {
  struct Case {
    double before, now, tolerance;
    bool worse, better;
  };
  for (const Case& c : {
           Case{0.90, 0.89, 0, true, false},
           Case{0.90, 0.88, 0.02, false, false},  // exactly the tolerance
           Case{0.90, 0.8799, 0.02, true, false},
           Case{0.88, 0.90, 0.02, false, false},
           Case{0.87, 0.90, 0.02, false, true},
       }) {
    const Comparison comparison =
        compare(report({}, {{"retrieval.fused.mrr", c.before}}),
                report({}, {{"retrieval.fused.mrr", c.now}}), c.tolerance, false);
    CAPTURE(c.now);
    CHECK(comparison.worse.size() == (c.worse ? 1 : 0));
    CHECK(comparison.better.size() == (c.better ? 1 : 0));
  }
}

TEST_CASE("changes are sorted by size, and cases come before metrics of the same size") {
  const std::vector<CaseResult> good = {result("dataset", "z", 99, 99), result("dataset", "y", 1)};
  const std::vector<CaseResult> bad = {result("dataset", "z", 66, 99), result("dataset", "y", 0)};
  Report before = report(good, {{"retrieval.fused.mrr", 1}});
  Report now = report(bad, {{"retrieval.fused.mrr", 0.8}});
  before.suite = now.suite = "all";
  const Names order = {"dataset/y", "dataset.pass_rate", "dataset/z", "retrieval.fused.mrr"};
  CHECK(names(compare(before, now, 0, false).worse) == order);
  CHECK(names(compare(now, before, 0, false).better) == order);
}

TEST_CASE("means of single scores and categories are not compared") {
  const Report before = report({}, {{"dataset.brevity", 1}, {"dataset.category.vague", 1}});
  const Report now = report({}, {{"dataset.brevity", 0}, {"dataset.category.vague", 0}});
  CHECK(!compare(before, now, 0, false).regressed());
}

TEST_CASE("a missing case is listed as worse if it passed before") {
  const Report before =
      report({result("dataset", "a", 1), result("dataset", "b", 0), result("dataset", "c", 1)});
  const Comparison comparison = compare(before, report({result("dataset", "c", 1)}), 0, false);
  REQUIRE(comparison.worse.size() == 1);
  CHECK(comparison.worse[0].what == "dataset/a");
  CHECK(comparison.worse[0].missing);
  CHECK(comparison.worse[0].why == "was not run");
}

TEST_CASE("only the suites that were run are compared") {
  const Report before = report(
      {result("dataset", "a", 1), result("retrieval", "q", 1)},
      {{"dataset.pass_rate", 1}, {"retrieval.policy.mrr", 1}, {"calibration.direct_right", 1}});
  const std::map<std::string, double> all_worse = {
      {"dataset.pass_rate", 0}, {"retrieval.policy.mrr", 0}, {"calibration.direct_right", 0}};
  const Report dataset = report({result("dataset", "a", 1)}, all_worse, "dataset");
  CHECK(names(compare(before, dataset, 0, false).worse) == Names{});
  const Report retrieval = report({result("retrieval", "q", 1)}, all_worse, "retrieval");
  CHECK(names(compare(before, retrieval, 0, false).worse) ==
        Names{"calibration.direct_right", "retrieval.policy.mrr"});
  CHECK(names(compare(before, report({result("dataset", "a", 1)}), 0, false).worse) ==
        Names{"retrieval/q"});
}

TEST_CASE("a run of some cases compares only those cases") {
  const Report before =
      report({result("dataset", "a", 1), result("dataset", "b", 1)}, {{"dataset.pass_rate", 1}});
  const Report now = report({result("dataset", "a", 0)}, {{"dataset.pass_rate", 0}});
  CHECK(names(compare(before, now, 0, true).worse) == Names{"dataset/a"});
}

TEST_CASE("a case that could not be run is not reported as a regression") {
  const Report before = report({result("dataset", "a", 1), result("dataset", "b", 1)},
                               {{"dataset.pass_rate", 1}, {"retrieval.policy.mrr", 1}});
  const Report now = report({not_run("dataset", "a"), result("dataset", "b", 1)},
                            {{"dataset.pass_rate", 0.5}, {"retrieval.policy.mrr", 1}});
  CHECK_FALSE(compare(before, now, 0, false).regressed());

  CHECK(compare(before, now, 0, false).not_run == 1);
  CaseResult partly = result("dataset", "a", 0, 1);  // another trial could not be run
  partly.errors = 1;
  CHECK(names(compare(before, report({partly, result("dataset", "b", 1)}), 0, false).worse) ==
        Names{"dataset/a"});
}

TEST_CASE("a case without a completed trial in the baseline counts as new") {
  const Report before = report({not_run("dataset", "a"), result("dataset", "b", 1)});
  const Report now = report({result("dataset", "a", 0), result("dataset", "b", 1),
                             result("dataset", "new-fails", 0), result("dataset", "new-passes", 1),
                             not_run("dataset", "new-not-run")});
  const Comparison comparison = compare(before, now, 0, false);
  CHECK(comparison.new_failures == Names{"dataset/a", "dataset/new-fails"});
  CHECK_FALSE(comparison.regressed());
}

TEST_CASE("a new failing case does not lower the pass rate of its suite") {
  const Report before = report({result("dataset", "a", 1)}, {{"dataset.pass_rate", 1}});
  const Report now = report({result("dataset", "a", 1), result("dataset", "new", 0)},
                            {{"dataset.pass_rate", 0.5}});
  CHECK_FALSE(compare(before, now, 0, false).regressed());
}

TEST_CASE("many losses within the tolerance add up to a reported loss of the suite") {
  std::vector<CaseResult> good, bad;
  for (int i = 0; i < 10; ++i) {
    good.push_back(result("dataset", std::to_string(i), 10, 10));
    bad.push_back(result("dataset", std::to_string(i), 9, 10));
  }
  const Comparison comparison = compare(report(good), report(bad), 0.05, false);
  CHECK(names(comparison.worse) == Names{"dataset.pass_rate"});
}

TEST_CASE(
    "with several trials a loss is reported only if the confidence intervals do not overlap") {
  const Report before = report({result("dataset", "a", 5, 5)});
  CHECK(names(compare(before, report({result("dataset", "a", 4, 5)}), 0.01, true).worse) ==
        Names{});
  CHECK(names(compare(before, report({result("dataset", "a", 0, 5)}), 0.01, true).worse) ==
        Names{"dataset/a"});
}

TEST_CASE("a case whose question or expectations changed is listed, not compared") {
  CaseResult old = result("dataset", "a", 1), now = result("dataset", "a", 0);
  old.hash = "1";
  now.hash = "2";
  const Comparison comparison = compare(report({old}), report({now}), 0, false);
  CHECK_FALSE(comparison.regressed());
  CHECK(comparison.changed_cases == Names{"dataset/a"});
  CHECK(to_text(comparison).find("dataset/a") != std::string::npos);
  now.hash = "1";
  CHECK(compare(report({old}), report({now}), 0, false).regressed());
  now.hash = "";  // as in a report of an older version
  CHECK(compare(report({old}), report({now}), 0, false).regressed());
  now.query = "another";
  CHECK(compare(report({old}), report({now}), 0, false).changed_cases.size() == 1);
}

TEST_CASE("changed parts are listed") {
  Report before = report({}), now = report({});
  before.parts = {{"generator", "extractive"}, {"day", "2026-11-15"}, {"gone", "x"}};
  now.parts = {{"generator", "model"}, {"day", "2026-11-15"}};
  CHECK(compare(before, now, 0, false).changed_parts == Names{"generator: model, was extractive"});
}

TEST_CASE("a report can be compared if it has at least one of the cases") {
  Cases cases;
  cases.cases.push_back({});
  cases.cases[0].suite = "dataset";
  cases.cases[0].id = "a";
  cases.queries.push_back({});
  cases.queries[0].id = "q";
  CHECK(comparable(report({result("dataset", "a", 1)}), cases));
  CHECK(comparable(report({result("retrieval", "q", 1)}), cases));
  CHECK(!comparable(report({result("dataset", "b", 1), result("constraints", "a", 1)}), cases));
  CHECK(!comparable(report({}), cases));
}

TEST_CASE("a comparison is written as JSON") {
  Comparison comparison;
  comparison.worse = {{"dataset/a", 1, 0, "why \"it\" \xff", false}, {"dataset/b", 1, 0, "", true}};
  const std::string json = to_json(comparison);
  CHECK(json.find("\"now\":null") != std::string::npos);
  CHECK(json.find("\"why\":\"why \\\"it\\\" \xEF\xBF\xBD\"") != std::string::npos);
}

TEST_CASE("a metric that only one report has is not compared") {
  CHECK_FALSE(compare(report({}, {{"retrieval.reranked.mrr", 1}}),
                      report({}, {{"retrieval.fused.mrr", 0}}), 0, false)
                  .regressed());
}

TEST_CASE("figures() uses as many digits as are needed to distinguish the values") {
  struct Case {
    Change change;
    const char *before, *now;
  };
  for (const Case& c : {
           Case{{"m", 1, 0, "", false}, "1.00", "0.00"},
           Case{{"m", 0.912, 0.911, "", false}, "0.912", "0.911"},
           Case{{"m", 0.9112, 0.9111, "", false}, "0.9112", "0.9111"},
           Case{{"m", 1, 0, "", true}, "1.00", "-"},
       })
    CHECK(figures(c.change) == std::pair<std::string, std::string>(c.before, c.now));
}

TEST_CASE("the text lists regressions first, in aligned columns, with the reasons") {
  Comparison comparison;
  comparison.worse = {{"dataset/followup-debono", 1, 0, "citation_hit: cites debono", false},
                      {"dataset/gone", 1, 0, "was not run", true},
                      {"retrieval.policy.ndcg@10", 0.912, 0.911, "", false}};
  comparison.better = {{"dataset/größe", 0, 1, "", false}};
  comparison.new_failures = {"dataset/xyz"};
  CHECK(to_text(comparison) ==
        "worse   dataset/followup-debono   1.00  -> 0.00   citation_hit: cites debono\n"
        "worse   dataset/gone              1.00  -> -      was not run\n"
        "worse   retrieval.policy.ndcg@10  0.912 -> 0.911\n"
        "new     dataset/xyz               fails\n"
        "better  dataset/größe             0.00  -> 1.00\n"
        "3 worse, 1 better, 1 new and failing (tolerance 0)\n");
}

TEST_CASE("control characters and long texts stay within one line") {
  Comparison comparison;
  comparison.worse = {{"dataset/a\nb", 1, 0, "echo: \x1b[31m\nworse\r fake \xff", false}};
  const std::string text = to_text(comparison);
  CHECK(text ==
        "worse   dataset/a b  1.00 -> 0.00  echo: [31m worse fake \ufffd\n"
        "1 worse, 0 better, 0 new and failing (tolerance 0)\n");
  comparison.worse[0].why = std::string(5000, 'x');
  CHECK(to_text(comparison).size() < 300);
}

TEST_CASE("a long name does not widen the column of the others") {
  Comparison comparison;
  comparison.worse = {{"dataset/" + std::string(200, 'x'), 1, 0, "", false},
                      {"dataset/a", 1, 0, "", false}};
  const std::string text = to_text(comparison);
  const size_t second = text.find('\n') + 1;
  CHECK(text.find('\n', second) - second < 100);
}

}  // namespace compare_test
