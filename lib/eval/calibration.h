// Measures whether the confidence class of answers is justified. Pure.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "eval/report.h"
#include "eval/stages.h"

namespace stoka::eval {

// Counts the queries of each class (direct, adjacent, low, nothing, in this order) and how many are
// correct. A query of the class nothing is correct if no document is relevant to it, any other
// query if the document ranked first is relevant. Queries that could not be run are not counted.
std::vector<ConfidenceClass> calibrate(const QueryRuns& runs, std::span<const Query> queries);

// What the confidence classes would be for the same scores under other thresholds.
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

// Returns a row for each tried threshold value: the configured values, and values around them in
// steps of 0.05.
std::vector<ThresholdRow> try_thresholds(const QueryRuns& runs, std::span<const Query> queries,
                                         const rerank::ConfidenceThresholds& in_use);

}  // namespace stoka::eval
