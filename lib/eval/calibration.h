// Measures whether the confidence class of answers is justified. Pure.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "eval/report.h"
#include "eval/stages.h"

namespace stoka::eval {

// The classes direct, adjacent, low and nothing, in this order, over the queries that could be run.
// A query of the first three is correct if the best document is relevant, one of nothing if no
// document is.
std::vector<ConfidenceClass> calibrate(const QueryRuns& runs, std::span<const Query> queries);

// The outcome of the same scores under other thresholds.
struct ThresholdRow {
  std::string threshold;  // the threshold that is varied: "nothing" or "direct"
  double value = 0;
  double answered = 0;                 // share of the answerable queries that are answered
  double refused = 0;                  // share of the unanswerable queries that are refused
  double direct = 0;                   // share of the answered queries that are direct
  std::optional<double> direct_right;  // share of the direct answers that are correct
  bool in_use = false;                 // whether the value is the configured one
};

// The outcome under the given thresholds. `threshold` and `value` of the row stay empty.
ThresholdRow with_thresholds(const QueryRuns& runs, std::span<const Query> queries,
                             const rerank::ConfidenceThresholds& thresholds);

// A row for each value around the configured thresholds, in steps of 0.05; the configured values
// are among them.
std::vector<ThresholdRow> try_thresholds(const QueryRuns& runs, std::span<const Query> queries,
                                         const rerank::ConfidenceThresholds& in_use);

}  // namespace stoka::eval
