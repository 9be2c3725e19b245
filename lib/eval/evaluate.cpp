#include "eval/evaluate.h"

#include <fmt/format.h>

#include <algorithm>

#include "eval/calibration.h"

namespace stoka::eval {
namespace {

// Computes means over cases. Each case counts once, however many trials it had.
class Means {
 public:
  void add(const std::string& name, double value) {
    auto& [sum, n] = sums_[name];
    sum += value;
    n += 1;
  }
  void write_to(std::map<std::string, double>& metrics) const {
    for (const auto& [name, sum] : sums_) metrics[name] = sum.first / sum.second;
  }

 private:
  std::map<std::string, std::pair<double, double>> sums_;
};

void add_metrics(std::span<const CaseResult> results, std::map<std::string, double>& metrics) {
  Means means;
  for (const CaseResult& one : results) {
    if (one.trials == 0) continue;
    means.add(one.suite + ".pass_rate", one.pass_rate());
    if (one.suite == "retrieval") continue;  // add_stages() adds the scores of retrieval
    if (!one.category.empty())
      means.add(fmt::format("{}.category.{}", one.suite, one.category), one.pass_rate());
    for (const auto& [name, value] : one.scores) means.add(one.suite + "." + name, value);
  }
  means.write_to(metrics);
}

void add_stages(const QueryRuns& runs, std::span<const Query> queries, Report& report) {
  for (size_t stage = 0; stage < kStages.size(); ++stage) {
    if (kStages[stage] == "dense" && !runs.dense) continue;
    const std::string prefix = fmt::format("retrieval.{}", kStages[stage]);
    for (const auto& [name, value] : named(stage_mean(runs, queries, stage)))
      report.metrics[prefix + "." + name] = value;
    std::vector<double> ms;
    for (const QueryRun& run : runs.runs)
      if (!run.error) ms.push_back(run.stages[stage].ms);
    report.latency[prefix] = latency_percentiles(std::move(ms));
  }
}

void add_calibration(const QueryRuns& runs, std::span<const Query> queries,
                     const rerank::ConfidenceThresholds& thresholds, Report& report) {
  report.calibration = calibrate(runs, queries);
  for (const ConfidenceClass& one : report.calibration)
    if (one.n > 0) report.metrics["calibration." + one.name + "_right"] = one.share();
  const ThresholdRow now = with_thresholds(runs, queries, thresholds);
  report.metrics["retrieval.answered"] = now.answered;
  report.metrics["retrieval.answered_directly"] = now.direct;
  if (std::ranges::any_of(queries, [](const Query& one) { return one.relevant.empty(); }))
    report.metrics["retrieval.refused"] = now.refused;
}

}  // namespace

Result<Evaluation> evaluate(SystemUnderTest& subject, const Cases& cases, const Phrases& phrases,
                            size_t repeat, size_t jobs, const SuiteProgress& progress,
                            std::stop_token stop) {
  const Clock& clock = subject.engine().parts().clock;
  const std::chrono::nanoseconds start = clock.monotonic();
  Evaluation out;
  Report& report = out.report;
  report.repeat = repeat;
  const auto suite_progress = [&](std::string_view label) {
    return [&progress, label](size_t done, size_t total) {
      if (progress) progress(label, done, total);
    };
  };
  const auto keep_first_error = [&](const std::optional<Error>& error) {
    if (error && !out.error) out.error = error;
  };
  std::vector<double> turn_ms;
  for (const std::string_view suite : {"constraints", "dataset", "conversations"}) {
    std::vector<Case> chosen;
    std::copy_if(cases.cases.begin(), cases.cases.end(), std::back_inserter(chosen),
                 [&](const Case& one) { return one.suite == suite; });
    if (chosen.empty()) continue;
    STOKA_ASSIGN(CaseRun run,
                 run_cases(subject, chosen, phrases, {repeat, jobs, suite_progress(suite)}, stop));
    keep_first_error(run.error);
    out.not_run += run.not_run;
    out.attempted += chosen.size() * repeat;
    turn_ms.insert(turn_ms.end(), run.turn_ms.begin(), run.turn_ms.end());
    std::move(run.results.begin(), run.results.end(), std::back_inserter(report.cases));
  }
  if (!turn_ms.empty()) report.latency["turn"] = latency_percentiles(std::move(turn_ms));
  if (!cases.queries.empty()) {
    STOKA_ASSIGN(out.queries,
                 run_queries(subject.engine(), cases.queries, suite_progress("retrieval"), stop));
    size_t failed = 0;
    for (const QueryRun& run : out.queries.runs) {
      keep_first_error(run.error);
      failed += run.error ? 1 : 0;
    }
    out.not_run += failed;
    out.attempted += cases.queries.size();
    for (CaseResult& one : query_results(out.queries, cases.queries))
      report.cases.push_back(std::move(one));
    add_stages(out.queries, cases.queries, report);
    if (failed == 0)
      add_calibration(out.queries, cases.queries, subject.engine().settings().thresholds, report);
  }
  add_metrics(report.cases, report.metrics);
  report.seconds = std::chrono::duration<double>(clock.monotonic() - start).count();
  return out;
}

}  // namespace stoka::eval
