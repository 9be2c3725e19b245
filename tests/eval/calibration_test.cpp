#include "eval/calibration.h"

#include <doctest/doctest.h>

namespace calibration_test {

using namespace stoka;
using namespace stoka::eval;

namespace {

// Answerable and unanswerable queries with their best scores.
struct Fixture {
  std::vector<Query> queries;
  QueryRuns runs;

  void add(double best, bool answerable, bool best_is_relevant) {
    Query query;
    if (answerable) query.relevant = {{"a", 1.0}};
    queries.push_back(query);
    QueryRun run;
    run.best_score = best;
    run.scores.back().hit_1 = best_is_relevant ? 1 : 0;
    const rerank::ConfidenceThresholds limits;
    run.verdict.confidence = best >= limits.direct    ? Confidence::direct
                             : best >= limits.nothing ? Confidence::adjacent
                                                      : Confidence::nothing;
    run.verdict.low_confidence = best >= limits.nothing && best < limits.adjacent;
    runs.runs.push_back(run);
  }
};

Fixture some() {
  Fixture out;
  out.add(0.95, true, true);
  out.add(0.90, true, false);
  out.add(0.70, true, true);
  out.add(0.60, true, true);
  out.add(0.55, false, false);
  out.add(0.40, true, true);
  out.add(0.10, false, false);
  out.add(0.00, false, false);
  return out;
}

}  // namespace

TEST_CASE("an answer counts as correct if its best document is relevant, a refusal if none is") {
  const Fixture all = some();
  const std::vector<ConfidenceClass> classes = calibrate(all.runs, all.queries);
  REQUIRE(classes.size() == 4);
  CHECK(classes[0].name == "direct");
  CHECK(classes[0].n == 2);
  CHECK(classes[0].correct == 1);
  CHECK(classes[1].n == 1);
  CHECK(classes[1].correct == 1);
  CHECK(classes[2].name == "low");
  CHECK(classes[2].n == 2);
  CHECK(classes[2].correct == 1);
  CHECK(classes[3].name == "nothing");
  CHECK(classes[3].n == 3);
  CHECK(classes[3].correct == 2);
  CHECK(classes[0].share() == 0.5);
  CHECK(ConfidenceClass{}.share() == 0);
}

TEST_CASE("queries with an error are not counted") {
  Fixture all = some();
  for (QueryRun& run : all.runs.runs) run.error = Error(ErrorKind::unavailable, "gone");
  for (const ConfidenceClass& one : calibrate(all.runs, all.queries)) CHECK(one.n == 0);
  for (const ThresholdRow& row : try_thresholds(all.runs, all.queries, {}))
    CHECK(row.answered == 0);
}

TEST_CASE("try_thresholds varies each threshold around its configured value and marks that value") {
  const Fixture all = some();
  const std::vector<ThresholdRow> rows = try_thresholds(all.runs, all.queries, {});
  size_t in_use = 0;
  double last_answered = 1, last_refused = 0;
  for (const ThresholdRow& row : rows) {
    in_use += row.in_use ? 1 : 0;
    if (row.in_use && row.threshold == "nothing") {
      CHECK(row.value == 0.50);
      CHECK(row.answered == doctest::Approx(4.0 / 5));
      CHECK(row.refused == doctest::Approx(2.0 / 3));
      CHECK(row.direct == doctest::Approx(2.0 / 5));
      CHECK(row.direct_right == doctest::Approx(0.5));
    }
    if (row.threshold != "nothing") continue;
    CHECK(row.answered <= last_answered);
    CHECK(row.refused >= last_refused);
    last_answered = row.answered;
    last_refused = row.refused;
  }
  CHECK(in_use == 2);
  const auto other = try_thresholds(all.runs, all.queries, {0.83, 0.6, 0.47});
  CHECK(std::count_if(other.begin(), other.end(),
                      [](const ThresholdRow& row) { return row.in_use; }) == 2);
}

}  // namespace calibration_test
