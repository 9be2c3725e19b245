// Runs suites and makes a report of the results.
#pragma once

#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "eval/case.h"
#include "eval/report.h"
#include "eval/run_cases.h"
#include "eval/stages.h"
#include "eval/system_under_test.h"

namespace stoka::eval {

struct Evaluation {
  Report report;
  QueryRuns queries;  // a run for each query of the cases
  // The first error of a trial or query that could not be run; the report lists the errors by case.
  std::optional<Error> error;
  size_t not_run = 0;    // trials and queries that could not be run
  size_t attempted = 0;  // the number of all trials and queries
};

// `label` is the suite that is running: "constraints", "dataset", "conversations" or "retrieval".
using SuiteProgress = std::function<void(std::string_view label, size_t done, size_t total)>;

// Runs all the given cases and queries, suite by suite. Fails only with `cancelled`.
Result<Evaluation> evaluate(SystemUnderTest& subject, const Cases& cases, const Phrases& phrases,
                            size_t repeat, size_t jobs, const SuiteProgress& progress,
                            std::stop_token stop);

}  // namespace stoka::eval
