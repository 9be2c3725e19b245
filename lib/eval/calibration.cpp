#include "eval/calibration.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace stoka::eval {
namespace {

size_t class_of(const rerank::ConfidenceResult& verdict) {
  if (verdict.confidence == Confidence::direct) return 0;
  if (verdict.confidence == Confidence::nothing) return 3;
  return verdict.low_confidence ? 2 : 1;
}

bool best_is_relevant(const QueryRun& run) { return run.scores.back().hit_1 > 0; }

double share(double part, double all) { return all > 0 ? part / all : 0; }

ThresholdRow threshold_row(const QueryRuns& runs, std::span<const Query> queries,
                           std::string threshold, double value, double nothing, double direct,
                           bool in_use) {
  double answerable = 0, answered = 0, unanswerable = 0, refused = 0;
  double all_answered = 0, all_direct = 0, correct = 0;
  for (size_t i = 0; i < queries.size(); ++i) {
    const QueryRun& run = runs.runs[i];
    if (run.error) continue;
    const bool is_answered = run.best_score >= nothing;
    const bool is_direct = is_answered && run.best_score >= direct;
    (queries[i].relevant.empty() ? unanswerable : answerable) += 1;
    if (queries[i].relevant.empty())
      refused += is_answered ? 0 : 1;
    else
      answered += is_answered ? 1 : 0;
    all_answered += is_answered ? 1 : 0;
    all_direct += is_direct ? 1 : 0;
    correct += is_direct && best_is_relevant(run) ? 1 : 0;
  }
  return {std::move(threshold),
          value,
          share(answered, answerable),
          share(refused, unanswerable),
          share(all_direct, all_answered),
          all_direct > 0 ? std::optional(correct / all_direct) : std::nullopt,
          in_use};
}

// The values from `low` to `high` in steps of 0.05 and the configured value, in ascending order.
std::vector<double> threshold_values(double low, double high, double in_use) {
  constexpr double kStep = 0.05;
  std::vector<double> out = {in_use};
  const int steps = static_cast<int>(std::lround((high - low) / kStep));
  for (int i = 0; i <= steps; ++i) {
    const double value = low + kStep * i;
    if (std::abs(value - in_use) > 1e-9) out.push_back(value);
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

std::vector<ConfidenceClass> calibrate(const QueryRuns& runs, std::span<const Query> queries) {
  std::vector<ConfidenceClass> out = {
      {"direct", 0, 0}, {"adjacent", 0, 0}, {"low", 0, 0}, {"nothing", 0, 0}};
  for (size_t i = 0; i < queries.size(); ++i) {
    const QueryRun& run = runs.runs[i];
    if (run.error) continue;
    ConfidenceClass& one = out[class_of(run.verdict)];
    const bool is_nothing = &one == &out.back();
    ++one.n;
    one.correct += (is_nothing ? queries[i].relevant.empty() : best_is_relevant(run)) ? 1 : 0;
  }
  return out;
}

ThresholdRow with_thresholds(const QueryRuns& runs, std::span<const Query> queries,
                             const rerank::ConfidenceThresholds& thresholds) {
  return threshold_row(runs, queries, "", 0, thresholds.nothing, thresholds.direct, true);
}

std::vector<ThresholdRow> try_thresholds(const QueryRuns& runs, std::span<const Query> queries,
                                         const rerank::ConfidenceThresholds& in_use) {
  std::vector<ThresholdRow> out;
  for (const double value : threshold_values(0.30, 0.70, in_use.nothing))
    out.push_back(threshold_row(runs, queries, "nothing", value, value, in_use.direct,
                                value == in_use.nothing));
  for (const double value : threshold_values(0.70, 0.95, in_use.direct))
    out.push_back(threshold_row(runs, queries, "direct", value, in_use.nothing, value,
                                value == in_use.direct));
  return out;
}

}  // namespace stoka::eval
