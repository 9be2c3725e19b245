// Grid search: the same queries under every combination of some settings, to choose them by their
// scores.
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

// A setting and the values to try.
struct Axis {
  std::string key;  // the name of a setting, e.g. "chunk.max_tokens"
  std::vector<std::string> values;
};

// Parses "KEY=A,B,C". Any other text is a usage error.
Result<Axis> parse_axis(std::string_view text);

using Combination = std::vector<std::pair<std::string, std::string>>;  // keys with their values

// All combinations, the last axis varying fastest; without axes, a single empty combination.
std::vector<Combination> combinations(std::span<const Axis> axes);

struct SweepRow {
  Combination settings;
  uint64_t chunks = 0;                  // the number of chunks in the index
  RankingScores scores;                 // the scores of the ranking after the policy
  std::optional<double> direct_right;   // share of the direct answers that are correct
  std::optional<double> nothing_right;  // share of the refusals that are correct
  double p50_ms = 0;  // median latency of a query up to the policy; differs from run to run
};

SweepRow sweep_row(Combination settings, uint64_t chunks, const QueryRuns& runs,
                   std::span<const Query> queries);

struct Sweep {
  std::vector<SweepRow> rows;
  std::vector<ThresholdRow> thresholds;  // rows for the configured settings
};

// The sweep as a table for people, in which all rows with the best nDCG@10 are marked.
std::string to_table(const Sweep& sweep);
// Writes {"rows":[{"settings":{…},"chunks",…}],"thresholds":[…]}; a row ends with its latency.
std::string to_json(const Sweep& sweep);

}  // namespace stoka::eval
