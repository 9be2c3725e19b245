// The same queries under many settings, so that they can be chosen by their figures.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "eval/calibration.h"
#include "eval/ranking.h"

namespace stoka::eval {

// A setting and its values.
struct Axis {
  std::string key;  // "chunk.max_tokens"
  std::vector<std::string> values;
};

// "KEY=A,B,C". A usage error for anything else.
Result<Axis> parse_axis(std::string_view text);

using Combination = std::vector<std::pair<std::string, std::string>>;  // key and value

// Every combination, the last axis turning fastest; of no axis one that is empty.
std::vector<Combination> combinations(std::span<const Axis> axes);

struct SweepRow {
  Combination settings;
  uint64_t chunks = 0;                  // in the index
  RankingScores scores;                 // after the policy
  std::optional<double> direct_right;   // share of direct answers that are right
  std::optional<double> nothing_right;  // share of refusals that are right
  double p50_ms = 0;  // of a query, from the question to the policy; differs from run to run
};

SweepRow sweep_row(Combination settings, uint64_t chunks, const QueryRuns& runs,
                   std::span<const Query> queries);

struct Sweep {
  std::vector<SweepRow> rows;
  std::vector<ThresholdRow> thresholds;  // under the settings as configured
};

// The best nDCG@10 is marked; equal ones all are.
std::string to_table(const Sweep& sweep);
// {"rows":[{"settings":{…},"chunks",…}],"thresholds":[…]}; times stand last in each row.
std::string to_json(const Sweep& sweep);

}  // namespace stoka::eval
