// Asks what the cases ask and judges what came.
#pragma once

#include <functional>
#include <span>
#include <stop_token>
#include <vector>

#include "eval/case.h"
#include "eval/predicates.h"
#include "eval/report.h"
#include "eval/subject.h"

namespace stoka::eval {

// What is worked on, for a progress bar; from any thread, one call at a time.
using Progress = std::function<void(size_t done, size_t total)>;

struct RunOptions {
  size_t repeat = 1;  // trials of each case
  size_t jobs = 1;    // cases at a time, at least 1
  Progress progress;
};

struct CaseRun {
  std::vector<CaseResult> results;  // one a case, in order
  std::vector<double> turn_ms;      // of every judged turn that came to an end
  size_t unmade = 0;                // trials that could not be made
  // The first thing for which a trial could not be made, in the order of the cases.
  std::optional<Error> error;
};

// Every case in a session of its own, its earlier turns first. A turn that fails, or that was
// answered without the configured reranker, is an error of its trial and no failure of the case.
// When several trials in a row cannot reach a server, the rest are not tried. Only `cancelled` is
// an error of the whole.
Result<CaseRun> run_cases(Subject& subject, std::span<const Case> cases, const Phrases& phrases,
                          const RunOptions& options, std::stop_token stop);

}  // namespace stoka::eval
