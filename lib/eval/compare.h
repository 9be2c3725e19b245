// What got better and worse since an earlier report. Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "eval/case.h"
#include "eval/report.h"

namespace stoka::eval {

struct Change {
  std::string what;  // "dataset/followup-debono", or a metric's name
  double before = 0;
  double now = 0;
  std::string why;       // of a case that is worse: what failed
  bool missing = false;  // it was in the baseline and was not run
};

struct Comparison {
  double tolerance = 0;
  std::vector<std::string> others;  // parts that are not as they were: "generator: a, was b"
  size_t unmade = 0;                // cases of the baseline that could not be run now

  std::vector<Change> worse;         // beyond the tolerance, the largest loss first
  std::vector<Change> better;        // beyond the tolerance, the largest gain first
  std::vector<std::string> added;    // cases the baseline does not have, that do not pass
  std::vector<std::string> changed;  // cases whose question, or what is due, is another
  bool regressed() const { return !worse.empty(); }
};

// How many are better and worse, what could not be compared, and which parts are others: a sentence
// each.
std::vector<std::string> remarks(const Comparison& comparison);

// Whether the report has any of the cases.
bool comparable(const Report& baseline, const Cases& cases);

// Cases by their pass rate, suites by that of the cases both reports have, stages and confidence
// classes by their figures; a loss of more than `tolerance` counts, and of a case that was tried
// several times one that its 95 % intervals do not explain. Only suites that the report ran are
// compared, and with `some` only cases that it ran. Cases that could not be made now, and figures
// of a suite with one, are not compared: an upstream that is gone is no regression. Nor is a case
// whose question or due is another now: it is named. A case that passed and is gone from a suite is
// worse. "all" ran every suite; "calibration.*" belongs to retrieval.
Comparison compare(const Report& baseline, const Report& report, double tolerance, bool some);

// Before and now in as many digits as it takes to tell them apart: {"0.91", "0.85"}. {"1.00", "-"}
// for what was not run.
std::pair<std::string, std::string> figures(const Change& change);

// {"worse":[{"what","before","now","why"}],"better":[…],"new":[…],"changed":[…],"unmade",
// "other_parts":[…],"tolerance"}.
std::string to_json(const Comparison& comparison);

// Several lines, for people: what is worse, what is new and fails, what is better, and remarks().
//   worse   dataset/followup-debono   1.00 -> 0.00  citation_hit: cites debono-boss-fight
//   new     dataset/xyz               fails
std::string to_text(const Comparison& comparison);

}  // namespace stoka::eval
