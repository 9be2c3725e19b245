// The differences between a report and an earlier one. Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "eval/case.h"
#include "eval/report.h"

namespace stoka::eval {

struct Change {
  std::string what;  // what has changed: a case such as "dataset/followup-debono", or a metric
  double before = 0;
  double now = 0;
  std::string why;       // for a case that is worse: the scores that failed
  bool missing = false;  // the case is in the baseline, but was not run
};

struct Comparison {
  double tolerance = 0;
  std::vector<std::string> changed_parts;  // the parts that differ, e.g. "generator: a, was b"
  size_t not_run = 0;                      // cases of the baseline that could not be run now

  // Changes of metrics beyond the tolerance, the largest first.
  std::vector<Change> worse;
  std::vector<Change> better;
  std::vector<std::string> new_failures;   // failing cases that are not in the baseline
  std::vector<std::string> changed_cases;  // cases whose question or expectations changed
  bool regressed() const { return !worse.empty(); }
};

// Sentences for people. They say how many cases are better and worse, what could not be compared,
// and which parts changed.
std::vector<std::string> remarks(const Comparison& comparison);

// Whether the report has a result for at least one of the cases.
bool comparable(const Report& baseline, const Cases& cases);

// Compares cases by their pass rate, suites by the mean pass rate of the cases in both reports, and
// retrieval stages and confidence classes by their metrics. A loss counts if it exceeds `tolerance`
// and, for a case with several trials, if the 95 % intervals do not overlap.
//
// Only suites that the report ran are compared ("all" ran every suite; "calibration.*" belongs to
// retrieval), and with `some` only the cases that it ran. Cases that could not be run, and the
// metrics of their suite, are skipped: an unavailable server is not a regression. A case whose
// question or expectations changed is listed but not compared. A case that passed before and is
// missing from a suite that was run counts as worse.
Comparison compare(const Report& baseline, const Report& report, double tolerance, bool some);

// Returns the values before and now with as many digits as it takes to tell them apart, for example
// {"0.91", "0.85"}, or {"1.00", "-"} if the case was not run now.
std::pair<std::string, std::string> figures(const Change& change);

// Returns the comparison as JSON: {"worse":[{"what","before","now","why"}],"better":[…],"new":[…],
// "changed":[…],"unmade","other_parts":[…],"tolerance"}.
std::string to_json(const Comparison& comparison);

// Lines for people: what is worse, what is new and fails, what is better, then remarks().
//   worse   dataset/followup-debono   1.00 -> 0.00  citation_hit: cites debono-boss-fight
//   new     dataset/xyz               fails
std::string to_text(const Comparison& comparison);

}  // namespace stoka::eval
