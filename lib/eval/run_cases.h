// Runs the turns of cases and judges the answers.
#pragma once

#include <atomic>
#include <functional>
#include <span>
#include <stop_token>
#include <vector>

#include "eval/case.h"
#include "eval/predicates.h"
#include "eval/report.h"
#include "eval/system_under_test.h"

namespace stoka::eval {

// Detects that the servers are unreachable, so that a run stops asking them. Any thread may use it.
class OutageDetector {
 public:
  // Records how an attempt ended; nullopt is success.
  void record(const std::optional<Error>& error) {
    const bool unreachable =
        error && (error->kind == ErrorKind::unavailable || error->kind == ErrorKind::timeout);
    in_a_row_ = unreachable ? in_a_row_ + 1 : 0;
  }
  // Whether so many consecutive attempts failed that no more should be made.
  bool detected() const { return in_a_row_ >= kMaxFailures; }

 private:
  static constexpr int kMaxFailures = 8;
  std::atomic<int> in_a_row_ = 0;
};

// Receives the progress, for a progress bar. May be called from any thread, one call at a time.
using Progress = std::function<void(size_t done, size_t total)>;

struct RunOptions {
  size_t repeat = 1;  // trials of each case
  size_t jobs = 1;    // trials that run at the same time, at least 1
  Progress progress;
};

struct CaseRun {
  std::vector<CaseResult> results;  // one for each case, in order
  std::vector<double> turn_ms;      // durations of the completed turns that were judged
  size_t not_run = 0;               // trials that could not be run
  // The first error of a trial that could not be run, in the order of the cases.
  std::optional<Error> error;
};

// Runs every trial in a session of its own, the earlier turns first. The turns of a conversation
// share a session and must follow each other in `cases`. Each turn is judged, even if an earlier
// one was judged wrong; if a turn could not be run, all later turns are errors too. A turn that
// fails, or that was answered without the configured reranker, is an error of its trial and not a
// failure of the case. After several consecutive trials that cannot reach a server, the remaining
// trials are not attempted. Fails only with `cancelled`.
Result<CaseRun> run_cases(SystemUnderTest& subject, std::span<const Case> cases,
                          const Phrases& phrases, const RunOptions& options, std::stop_token stop);

}  // namespace stoka::eval
