// The results of an evaluation, as they are written to a file and compared with earlier ones.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "eval/statistics.h"
#include "model/event.h"

namespace stoka::eval {

struct Comparison;

// The result of one case or query over all its trials.
struct CaseResult {
  std::string suite;  // "constraints", "dataset", "conversations", "retrieval"
  std::string id;
  std::string category;
  std::string query;
  std::vector<std::string> before;       // questions of the earlier turns
  size_t trials = 0;                     // completed trials
  size_t passes = 0;                     // completed trials that passed
  size_t errors = 0;                     // trials that could not be run
  std::map<std::string, double> scores;  // means in [0,1] over the trials that have the score
  // The distinct reasons of failed scores: "brevity: 5 sentences without a citation".
  std::vector<std::string> why;
  std::string error;  // the error of the first trial that could not be run

  // What the visitor saw in the worst trial; if several are equally bad, in the first of them.
  std::string route;
  std::string confidence;  // the confidence of the answer: "direct", "adjacent", "low" or "nothing"
  double best_score = 0;
  std::string answer;  // text with "[1]" for the first citation; for a query the five best slugs
  std::vector<Citation> citations;
  std::string ideal;
  std::string note;
  std::string hash;  // a hash of what the case asks and expects; empty in older reports

  double pass_rate() const;  // the share of completed trials that passed; 0 if there are none
  std::string name() const { return suite + "/" + id; }
  bool passed() const { return trials > 0 && passes == trials && errors == 0; }
};

// A confidence class. An answer of the class nothing is correct if no document is relevant, an
// answer of any other class if the document ranked first is relevant.
struct ConfidenceClass {
  std::string name;
  size_t n = 0;
  size_t correct = 0;
  double share() const {  // the share of correct answers; 0 if there are none
    return n == 0 ? 0 : static_cast<double>(correct) / static_cast<double>(n);
  }
};

struct Report {
  std::string suite;  // the requested suite, e.g. "all"
  size_t repeat = 1;  // trials of each case
  // The parts that were evaluated: "embedder", "reranker", "generator", "index", "day".
  std::map<std::string, std::string> parts;
  // Means in [0,1], higher is better: "dataset.pass_rate", "dataset.category.vague",
  // "dataset.citation_hit", "retrieval.lexical.ndcg@10", "calibration.direct_right".
  std::map<std::string, double> metrics;
  std::vector<ConfidenceClass> calibration;
  std::vector<CaseResult> cases;  // ordered by suite as run, then as in the file of a suite

  // The following members differ from run to run and are never compared.
  std::string at;  // the time of the run, as in RFC 3339
  double seconds = 0;
  std::map<std::string, LatencyPercentiles> latency;  // keys are "turn", "retrieval.lexical", …

  size_t passed() const;
  size_t failed() const;  // the number of cases that did not pass and have no error
  size_t errors() const;  // the number of cases with a trial that could not be run
};

// Metrics are written and compared with four decimals, without negative zero; NaN and infinity
// become 0.
double rounded(double value);

// The report as JSON: {"suite","passed","failed","errors","repeat","parts","metrics","cases",…}.
// Each case is on a line of its own, so that `diff` shows what changed. The same results give the
// same bytes, except for the last member, "run". A comparison becomes the member "comparison".
std::string to_json(const Report& report, const Comparison* comparison = nullptr);
// Reads a report. Fails with a data error that names the file if it is not JSON or not a report.
Result<Report> read_report(std::string_view json, const std::string& file);

// Plain text for a terminal (report_table.cpp): pass rates by suite and category, the kinds of
// conversations, the stages, the calibration, and the failed cases with their reasons; with `all`,
// every case with its scores. Untrusted text is not sanitised.
std::string to_table(const Report& report, bool all);

// One self-contained HTML file without scripts or external resources (html.cpp): the figures, the
// stages, scores over time, then every case with the answer and the citations as a visitor saw
// them, the worst case first. `earlier` holds older reports, oldest first. `comparison` may be
// null.
std::string to_html(const Report& report, std::span<const Report> earlier,
                    const Comparison* comparison);

// JUnit XML for CI servers (junit.cpp): a <testsuite> for each suite and a <testcase> for each
// case, with a <failure> if it failed or an <error> if it could not be run. The XML is valid
// whatever bytes the report contains.
std::string junit_xml(const Report& report);

}  // namespace stoka::eval
