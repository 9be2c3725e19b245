#include "eval/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/json.h"
#include "eval/statistics.h"
#include "text/normalize.h"
#include "text/width.h"

namespace stoka::eval {
namespace {

constexpr size_t kMaxReasonColumns = 160;
constexpr size_t kMaxNameColumns = 48;  // the columns after a longer name are not aligned

using ResultsByName = std::map<std::string, const CaseResult*>;

ResultsByName results_by_name(const Report& report) {
  ResultsByName out;
  for (const CaseResult& result : report.cases) out.emplace(result.name(), &result);
  return out;
}

// Calibration belongs to the retrieval suite, because it is measured with its queries.
std::string suite_of_metric(const std::string& metric) {
  const std::string first = metric.substr(0, metric.find('.'));
  return first == "calibration" ? "retrieval" : first;
}

// Only the metrics of retrieval are compared as they are. Pass rates are computed anew from the
// cases that both reports have, and single scores and categories would repeat what the cases show.
bool is_compared(const std::string& metric) {
  return suite_of_metric(metric) == "retrieval" && metric != "retrieval.pass_rate";
}

bool ran_suite(const Report& report, const std::string& suite) {
  return report.suite == "all" || report.suite == suite ||
         std::ranges::any_of(report.cases, [&](const CaseResult& c) { return c.suite == suite; });
}

// Whether both cases ask and expect the same. Cases of older reports have no hash.
bool same_case(const CaseResult& a, const CaseResult& b) {
  return a.query == b.query && a.before == b.before &&
         (a.hash == b.hash || a.hash.empty() || b.hash.empty());
}

struct RateSums {
  double before = 0, now = 0, n = 0;
  void add(double was, double is) {
    before += was;
    now += is;
    n += 1;
  }
};

// Whether the pass rates differ by more than chance: with several trials, whether their intervals
// are disjoint.
bool differs_significantly(const CaseResult& a, const CaseResult& b) {
  if (a.trials <= 1 && b.trials <= 1) return true;
  const Interval before = wilson_interval(a.pass_rate(), static_cast<double>(a.trials));
  const Interval now = wilson_interval(b.pass_rate(), static_cast<double>(b.trials));
  return before.low > now.high || now.low > before.high;
}

class ComparisonBuilder {
 public:
  explicit ComparisonBuilder(double tolerance) : tolerance_(tolerance) {
    out_.tolerance = tolerance;
  }

  void count_not_run() { ++out_.not_run; }
  void add_changed(std::string name) { out_.changed_cases.push_back(std::move(name)); }
  void add_part(const std::string& name, const std::string& before, const std::string& now) {
    if (before != now)
      out_.changed_parts.push_back(fmt::format("{}: {}, was {}", name, now, before));
  }

  void add(Change change) {
    // Rounds a value as in a report file, so that it equals the same value read from a file.
    change.before = rounded(change.before);
    change.now = rounded(change.now);
    constexpr double kEpsilon = 1e-9;
    const double gain = change.now - change.before;
    if (std::abs(gain) > tolerance_ + kEpsilon)
      (gain < 0 ? out_.worse : out_.better).push_back(std::move(change));
  }

  void add_new(std::string name) { out_.new_failures.push_back(std::move(name)); }

  // Sorts the changes by size and returns the comparison. The sort is stable, so that among changes
  // of the same size the cases stay before the metrics, which are less specific.
  Comparison take() {
    const auto size = [](const Change& c) { return -std::round(std::abs(c.now - c.before) * 1e4); };
    std::ranges::stable_sort(out_.worse, {}, size);
    std::ranges::stable_sort(out_.better, {}, size);
    return std::move(out_);
  }

 private:
  double tolerance_;
  Comparison out_;
};

struct ChangeLine {
  std::string_view verdict;
  std::string what;
  std::string before;
  std::string now;
  std::string why;
};

ChangeLine line_of(std::string_view verdict, const Change& change) {
  auto [before, now] = figures(change);
  const std::string why = text::collapse_whitespace(text::one_line(change.why));
  return {verdict, text::one_line(change.what), std::move(before), std::move(now),
          text::truncate_to_width(why, kMaxReasonColumns)};
}

std::string padded(std::string text, size_t columns) {
  const size_t width = text::display_width(text);
  return std::move(text) + std::string(columns > width ? columns - width : 0, ' ');
}

}  // namespace

Comparison compare(const Report& baseline, const Report& report, double tolerance, bool some) {
  ComparisonBuilder out(tolerance);
  for (const auto& [name, before] : baseline.parts)
    if (const auto part = report.parts.find(name); part != report.parts.end())
      out.add_part(name, before, part->second);
  const ResultsByName old = results_by_name(baseline);
  const ResultsByName now = results_by_name(report);
  std::set<std::string> incomplete;        // suites with an error, whose means are not comparable
  std::map<std::string, RateSums> suites;  // sums over the cases that both reports have
  for (const CaseResult& result : report.cases) {
    const auto found = old.find(result.name());
    const CaseResult* before = found == old.end() ? nullptr : found->second;
    if (result.errors > 0) incomplete.insert(result.suite);
    if (result.trials == 0) {
      if (before != nullptr) out.count_not_run();
    } else if (before == nullptr || before->trials == 0) {
      if (result.passes < result.trials) out.add_new(result.name());
    } else if (!same_case(*before, result)) {
      out.add_changed(result.name());
    } else {
      suites[result.suite].add(before->pass_rate(), result.pass_rate());
      const bool lost = result.pass_rate() < before->pass_rate();
      if (differs_significantly(*before, result))
        out.add({result.name(), before->pass_rate(), result.pass_rate(),
                 lost ? fmt::format("{}", fmt::join(result.why, "; ")) : "", false});
    }
  }
  if (some) return out.take();

  for (const CaseResult& result : baseline.cases)
    if (!now.contains(result.name()) && ran_suite(report, result.suite))
      out.add({result.name(), result.pass_rate(), 0, "was not run", true});
  for (const auto& [suite, rates] : suites)
    if (!incomplete.contains(suite))
      out.add({suite + ".pass_rate", rates.before / rates.n, rates.now / rates.n, "", false});
  for (const auto& [name, value] : baseline.metrics) {
    const std::string suite = suite_of_metric(name);
    const auto found = report.metrics.find(name);
    if (is_compared(name) && found != report.metrics.end() && ran_suite(report, suite) &&
        !incomplete.contains(suite))
      out.add({name, value, found->second, "", false});
  }
  return out.take();
}

std::pair<std::string, std::string> figures(const Change& change) {
  if (change.missing) return {fmt::format("{:.2f}", change.before), "-"};
  for (const int digits : {2, 3}) {
    std::string before = fmt::format("{:.{}f}", change.before, digits);
    std::string now = fmt::format("{:.{}f}", change.now, digits);
    if (before != now) return {std::move(before), std::move(now)};
  }
  return {fmt::format("{:.4f}", change.before), fmt::format("{:.4f}", change.now)};
}

std::vector<std::string> remarks(const Comparison& comparison) {
  std::vector<std::string> out;
  out.push_back(fmt::format("{} worse, {} better, {} new and failing (tolerance {:g})",
                            comparison.worse.size(), comparison.better.size(),
                            comparison.new_failures.size(), comparison.tolerance));
  if (comparison.not_run > 0)
    out.push_back(fmt::format("{} case{} of the baseline could not be run", comparison.not_run,
                              comparison.not_run == 1 ? "" : "s"));
  if (!comparison.changed_cases.empty())
    out.push_back(fmt::format(
        "{} case{} of that name ask{} for something else now, not compared: {}",
        comparison.changed_cases.size(), comparison.changed_cases.size() == 1 ? "" : "s",
        comparison.changed_cases.size() == 1 ? "s" : "",
        fmt::join(comparison.changed_cases, ", ")));
  for (const std::string& part : comparison.changed_parts) out.push_back("other " + part);
  return out;
}

bool comparable(const Report& baseline, const Cases& cases) {
  const ResultsByName old = results_by_name(baseline);
  return std::ranges::any_of(
             cases.cases,
             [&](const Case& one) { return old.contains(one.suite + "/" + one.id); }) ||
         std::ranges::any_of(cases.queries,
                             [&](const Query& one) { return old.contains("retrieval/" + one.id); });
}

std::string to_json(const Comparison& comparison) {
  using OrderedJson = nlohmann::ordered_json;
  const auto list = [](const std::vector<Change>& changes) {
    OrderedJson out = OrderedJson::array();
    for (const Change& one : changes) {
      OrderedJson change = {{"what", one.what}, {"before", rounded(one.before)}};
      change["now"] = one.missing ? OrderedJson() : OrderedJson(rounded(one.now));
      if (!one.why.empty()) change["why"] = one.why;
      out.push_back(std::move(change));
    }
    return out;
  };
  return to_json_text(OrderedJson{{"worse", list(comparison.worse)},
                                  {"better", list(comparison.better)},
                                  {"new", comparison.new_failures},
                                  {"changed", comparison.changed_cases},
                                  {"unmade", comparison.not_run},
                                  {"other_parts", comparison.changed_parts},
                                  {"tolerance", comparison.tolerance}});
}

std::string to_text(const Comparison& comparison) {
  std::vector<ChangeLine> lines;
  for (const Change& change : comparison.worse) lines.push_back(line_of("worse", change));
  for (const std::string& name : comparison.new_failures)
    lines.push_back({"new", text::one_line(name), "fails", "", ""});
  for (const Change& change : comparison.better) lines.push_back(line_of("better", change));

  size_t what = 0, before = 0, now = 0;
  for (const ChangeLine& line : lines) {
    what = std::min(std::max(what, text::display_width(line.what)), kMaxNameColumns);
    before = std::max(before, line.now.empty() ? 0 : line.before.size());
    now = std::max(now, line.now.size());
  }
  std::string out;
  for (const ChangeLine& line : lines) {
    std::string row = fmt::format("{:<6}  {}  {:<{}}", line.verdict, padded(line.what, what),
                                  line.before, before);
    if (!line.now.empty()) row += fmt::format(" -> {:<{}}  {}", line.now, now, line.why);
    out += row.erase(row.find_last_not_of(' ') + 1) + '\n';
  }
  for (const std::string& remark : remarks(comparison)) out += text::one_line(remark) + "\n";
  return out;
}

}  // namespace stoka::eval
