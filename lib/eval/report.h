// What an evaluation found, as it is written to a file and compared with the one before.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "eval/latency.h"
#include "model/event.h"

namespace stoka::eval {

// One case or query over all its trials.
struct CaseResult {
  std::string suite;  // "constraints", "dataset", "retrieval"
  std::string id;
  std::string category;
  std::string query;
  std::vector<std::string> before;  // earlier turns
  size_t trials = 0;                // that came to an end
  size_t passes = 0;
  size_t errors = 0;                     // trials that could not be made
  std::map<std::string, double> scores;  // means in [0,1] over the trials that have them
  std::vector<std::string>
      why;            // what failed, each once: "brevity: 5 sentences without a citation"
  std::string error;  // the first

  // What the visitor saw in the worst trial, the first of equals.
  std::string route;
  std::string confidence;  // "direct", "adjacent", "low", "nothing"
  double best_score = 0;
  std::string answer;  // "[1]" stands where the first citation was; of a query the five best
  std::vector<Citation> citations;
  std::string ideal;
  std::string note;
  std::string hash;  // of what was asked and due; empty in older reports

  // Share of the trials that passed, trials that could not be made left out; 0 if there is none.
  double pass_rate() const;
  std::string name() const { return suite + "/" + id; }
  bool passed() const { return trials > 0 && passes == trials && errors == 0; }
};

// A class of confidence and how often it is right: direct, adjacent and low when the best document
// is relevant, nothing when no document is.
struct ConfidenceClass {
  std::string name;
  size_t n = 0;
  size_t right = 0;
  double share() const {  // 0 if there are none
    return n == 0 ? 0 : static_cast<double>(right) / static_cast<double>(n);
  }
};

struct Report {
  std::string suite;  // as asked for: "all", …
  size_t repeat = 1;
  // The parts that were evaluated: "embedder", "reranker", "generator", "index", "day".
  std::map<std::string, std::string> parts;
  // Means in [0,1], higher is better: "dataset.pass_rate", "dataset.category.vague",
  // "dataset.citation_hit", "retrieval.lexical.ndcg@10", "calibration.direct_right".
  std::map<std::string, double> metrics;
  std::vector<ConfidenceClass> calibration;
  std::vector<CaseResult> cases;  // by suite in the order run, then as in their file

  // What differs from run to run, and is compared with nothing.
  std::string at;  // RFC 3339
  double seconds = 0;
  std::map<std::string, Milliseconds> latency;  // "turn", "retrieval.lexical", …

  size_t passed() const;
  size_t failed() const;  // of those without errors
  size_t errors() const;  // cases with a trial that could not be made
};

// As figures are written and compared: four decimals, no minus before zero; 0 for what is no
// number.
double rounded(double value);

// {"suite","passed","failed","errors","repeat","parts","metrics","calibration","cases",…}: an
// object whose cases stand one a line, so that versions of it can be compared by eye. The same
// results give the same bytes, but for the last member, "run".
struct Comparison;
// With a comparison it is the member "comparison".
std::string to_json(const Report& report, const Comparison* comparison = nullptr);
// A data error that names the file: no JSON, no report.
Result<Report> read_report(std::string_view json, const std::string& file);

}  // namespace stoka::eval
