// Runs suites and makes a report of them.
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
#include "eval/subject.h"

namespace stoka::eval {

struct Evaluation {
  Report report;
  QueryRuns queries;  // one a query of the cases
  // Why part of it could not be made; what it is of is in the report.
  std::optional<Error> error;
  size_t unmade = 0;  // trials and queries that could not be made
  size_t tried = 0;   // of so many
};

// `label`: what is run, "constraints", "dataset" or "retrieval".
using SuiteProgress = std::function<void(std::string_view label, size_t done, size_t total)>;

// All cases and queries that are given, suite by suite. Only `cancelled` is an error of the whole.
Result<Evaluation> evaluate(Subject& subject, const Cases& cases, const Phrases& phrases,
                            size_t repeat, size_t jobs, const SuiteProgress& progress,
                            std::stop_token stop);

}  // namespace stoka::eval
