// Whether confidence means what it says. Pure.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "eval/report.h"
#include "eval/stages.h"

namespace stoka::eval {

// The classes direct, adjacent, low and nothing, in this order, over queries that ran. The first
// three are right when the best document is relevant, nothing is when no document is.
std::vector<ConfidenceClass> calibrate(const QueryRuns& runs, std::span<const Query> queries);

// What other thresholds would do with the same scores.
struct ThresholdRow {
  std::string threshold;  // "nothing" or "direct": the others stay as they are
  double value = 0;
  double answered = 0;                 // share of the answerable queries that are answered
  double refused = 0;                  // share of the unanswerable ones that are not
  double direct = 0;                   // share of the answered queries that are direct
  std::optional<double> direct_right;  // share of the direct ones that are right
  bool in_use = false;
};

// With these thresholds; its name and value are empty.
ThresholdRow with_thresholds(const QueryRuns& runs, std::span<const Query> queries,
                             const rerank::Thresholds& thresholds);

// Values around those in use, in steps of 0.05; those in use are among them.
std::vector<ThresholdRow> try_thresholds(const QueryRuns& runs, std::span<const Query> queries,
                                         const rerank::Thresholds& in_use);

}  // namespace stoka::eval
