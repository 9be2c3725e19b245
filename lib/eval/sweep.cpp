#include "eval/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "base/json.h"
#include "eval/report.h"

namespace stoka::eval {
namespace {

using OrderedJson = nlohmann::ordered_json;

std::string share_text(const std::optional<double>& share) {
  return share ? fmt::format("{:.2f}", *share) : "-";
}

OrderedJson json_of(const std::optional<double>& share) {
  return share ? OrderedJson(rounded(*share)) : OrderedJson();
}

}  // namespace

Result<Axis> parse_axis(std::string_view text) {
  const size_t equals = text.find('=');
  Axis out;
  out.key = trimmed(text.substr(0, equals));
  std::string_view rest = equals == text.npos ? "" : text.substr(equals + 1);
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(','), rest.size());
    if (std::string value(trimmed(rest.substr(0, end))); !value.empty())
      out.values.push_back(std::move(value));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (out.key.empty() || out.values.empty())
    return fail(ErrorKind::usage, fmt::format("'{}' is not a setting with values", text),
                "write --sweep chunk.max_tokens=256,512, or --sweep alone for the usual ones");
  return out;
}

std::vector<Combination> combinations(std::span<const Axis> axes) {
  std::vector<Combination> out = {{}};
  for (const Axis& axis : axes) {
    std::vector<Combination> longer;
    for (const Combination& one : out)
      for (const std::string& value : axis.values) {
        longer.push_back(one);
        longer.back().emplace_back(axis.key, value);
      }
    out = std::move(longer);
  }
  return out;
}

SweepRow sweep_row(Combination settings, uint64_t chunks, const QueryRuns& runs,
                   std::span<const Query> queries) {
  SweepRow row;
  row.settings = std::move(settings);
  row.chunks = chunks;
  constexpr size_t kLast = kStages.size() - 1;
  row.scores = stage_mean(runs, queries, kLast);
  for (const ConfidenceClass& one : calibrate(runs, queries)) {
    if (one.n > 0 && one.name == "direct") row.direct_right = one.share();
    if (one.n > 0 && one.name == "nothing") row.nothing_right = one.share();
  }
  std::vector<double> ms;
  for (const QueryRun& run : runs.runs)
    if (!run.error) ms.push_back(run.stages[kLast].ms);
  row.p50_ms = latency_percentiles(std::move(ms)).p50;
  return row;
}

std::string to_table(const Sweep& sweep) {
  std::string out;
  if (!sweep.rows.empty()) {
    double best = 0;
    for (const SweepRow& row : sweep.rows) best = std::max(best, rounded(row.scores.ndcg_10));
    const bool differ = std::any_of(sweep.rows.begin(), sweep.rows.end(), [&](const SweepRow& row) {
      return rounded(row.scores.ndcg_10) != best;
    });
    for (const auto& [key, value] : sweep.rows.front().settings)
      out += fmt::format("{:>{}} ", key, std::max<size_t>(key.size(), 8));
    out += fmt::format("{:>7}", "chunks");
    for (const auto& [name, value] : named(RankingScores{})) out += fmt::format(" {:>9}", name);
    out += fmt::format(" {:>12} {:>13} {:>7}\n", "direct right", "nothing right", "p50 ms");
    for (const SweepRow& row : sweep.rows) {
      for (const auto& [key, value] : row.settings)
        out += fmt::format("{:>{}} ", value, std::max<size_t>(key.size(), 8));
      out += fmt::format("{:>7}", row.chunks);
      for (const auto& [name, value] : named(row.scores)) out += fmt::format(" {:>9.3f}", value);
      out += fmt::format(" {:>12} {:>13} {:>7.1f}{}\n", share_text(row.direct_right),
                         share_text(row.nothing_right), row.p50_ms,
                         differ && rounded(row.scores.ndcg_10) == best ? "  best ndcg@10" : "");
    }
  }
  if (sweep.thresholds.empty()) return out;
  out += fmt::format("{}{:<18} {:>9} {:>8} {:>7} {:>13}\n", out.empty() ? "" : "\n", "threshold",
                     "answered", "refused", "direct", "direct right");
  for (const ThresholdRow& row : sweep.thresholds)
    out += fmt::format("{:<18} {:>9.2f} {:>8.2f} {:>7.2f} {:>13}{}\n",
                       fmt::format("{:<8} {:>5.2f}", row.threshold, row.value), row.answered,
                       row.refused, row.direct, share_text(row.direct_right),
                       row.in_use ? "  in use" : "");
  return out;
}

std::string to_json(const Sweep& sweep) {
  OrderedJson rows = OrderedJson::array();
  for (const SweepRow& row : sweep.rows) {
    OrderedJson settings = OrderedJson::object();
    for (const auto& [key, value] : row.settings) settings[key] = value;
    OrderedJson one = {{"settings", std::move(settings)}, {"chunks", row.chunks}};
    for (const auto& [name, value] : named(row.scores)) one[name] = rounded(value);
    one["direct_right"] = json_of(row.direct_right);
    one["nothing_right"] = json_of(row.nothing_right);
    one["p50_ms"] = std::round(row.p50_ms * 100) / 100;
    rows.push_back(std::move(one));
  }
  OrderedJson thresholds = OrderedJson::array();
  for (const ThresholdRow& row : sweep.thresholds)
    thresholds.push_back({{"threshold", row.threshold},
                          {"value", rounded(row.value)},
                          {"in_use", row.in_use},
                          {"answered", rounded(row.answered)},
                          {"refused", rounded(row.refused)},
                          {"direct", rounded(row.direct)},
                          {"direct_right", json_of(row.direct_right)}});
  return to_json_text(
      OrderedJson{{"rows", std::move(rows)}, {"thresholds", std::move(thresholds)}});
}

}  // namespace stoka::eval
