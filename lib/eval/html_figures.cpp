#include "eval/html_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/date.h"
#include "eval/html_chart.h"
#include "eval/html_table.h"
#include "eval/markup.h"
#include "eval/stages.h"

namespace stoka::eval {
namespace {

std::string milliseconds(double ms) {
  return fmt::format("{:.{}f} ms", rounded(ms), ms < 10 ? 2 : ms < 100 ? 1 : 0);
}

std::string day(const std::string& at) {
  const std::optional<Date> date = parse_date(at);
  return date ? iso_date(*date) : at;
}

// Cases that could be run, and the mean of their pass rates.
struct Tally {
  size_t cases = 0;
  size_t run = 0;
  size_t passed = 0;
  size_t errors = 0;
  double rates = 0;

  void add(const CaseResult& result) {
    ++cases;
    passed += result.passed() ? 1 : 0;
    errors += result.errors > 0 ? 1 : 0;
    if (result.trials == 0) return;
    ++run;
    rates += result.pass_rate();
  }
  size_t failed() const { return cases - passed - errors; }
  double rate() const { return run == 0 ? 0 : rates / static_cast<double>(run); }
};

using Tallies = std::vector<std::pair<std::string, Tally>>;

template <class NameOf>
Tallies tallies(const Report& report, NameOf name_of) {
  Tallies out;
  for (const CaseResult& result : report.cases) {
    const std::string name = name_of(result);
    if (name.empty()) continue;
    auto found = std::ranges::find(out, name, &Tallies::value_type::first);
    if (found == out.end()) found = out.insert(out.end(), {name, {}});
    found->second.add(result);
  }
  return out;
}

}  // namespace

std::string suites_table(const Report& report) {
  std::string rows;
  for (const auto& [name, tally] : tallies(report, [](const CaseResult& c) { return c.suite; }))
    rows += row(name, number_cell(tally.passed) + number_cell(tally.failed()) +
                          number_cell(tally.errors) + share_cells(tally.rate(), tally.run));
  if (rows.empty()) return "";
  const std::array<std::string, 6> columns = {"suite",   "#passed",   "#failed",
                                              "#errors", "pass rate", "#95% interval"};
  return table("suites-table", "Mean pass rate of the cases that could be run", columns, rows);
}

std::string parts_list(const Report& report) {
  std::string out;
  for (const auto& [name, value] : report.parts)
    out += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escaped(name), escaped(value));
  if (report.repeat > 1)
    out += fmt::format("<div><dt>trials of each case</dt><dd>{}</dd></div>\n", report.repeat);
  return out.empty() ? "" : "<dl class=\"parts\">\n" + out + "</dl>\n";
}

std::string stages_table(const Report& report) {
  std::vector<std::string> metrics;
  for (const auto& [name, none] : named(RankingScores{})) metrics.push_back(name);
  const auto value = [&](std::string_view stage, std::string_view metric) -> std::optional<double> {
    const auto found = report.metrics.find(fmt::format("retrieval.{}.{}", stage, metric));
    return found == report.metrics.end() ? std::nullopt : std::optional(found->second);
  };
  std::vector<std::string> columns = {"stage"};
  std::map<std::string_view, std::string> cells;  // by stage
  for (const std::string& metric : metrics) {
    double best = -1;
    for (const std::string_view stage : kStages)
      best = std::max(best, rounded(value(stage, metric).value_or(-1)));
    if (best < 0) continue;
    columns.push_back("#" + metric);
    for (const std::string_view stage : kStages) {
      const std::optional<double> v = value(stage, metric);
      cells[stage] += !v ? number_cell("–")
                         : number_cell(fmt::format("{:.3f}", rounded(*v)),
                                       rounded(*v) >= best && best > 0 ? "best" : "");
    }
  }
  std::string rows;
  for (const std::string_view stage : kStages) {
    const auto ms = report.latency.find(fmt::format("retrieval.{}", stage));
    const bool timed = ms != report.latency.end();
    const bool measured = std::ranges::any_of(
        metrics, [&](const auto& metric) { return value(stage, metric).has_value(); });
    if (!measured) continue;
    rows += row(stage, cells[stage] + number_cell(timed ? milliseconds(ms->second.p50) : "–") +
                           number_cell(timed ? milliseconds(ms->second.p95) : "–"));
  }
  if (rows.empty()) return "";
  columns.insert(columns.end(), {"#half within", "#95% within"});
  return table("stages-table",
               "Mean over the queries after each stage, and how long it took; the best is bold",
               columns, rows);
}

std::string calibration_table(const Report& report) {
  std::string rows;
  for (const ConfidenceClass& c : report.calibration) {
    const size_t right = std::min(c.right, c.n);
    const double share = c.n == 0 ? 0 : static_cast<double>(right) / static_cast<double>(c.n);
    rows += row(c.name, number_cell(c.n) + number_cell(right) + share_cells(share, c.n));
  }
  const std::array<std::string, 5> columns = {"class", "#answers", "#right", "share right",
                                              "#95% interval"};
  return rows.empty() ? ""
                      : table("confidence-table",
                              "How often each class is right: “nothing” when no document is "
                              "relevant, the others when the best one is",
                              columns, rows);
}

std::string charts(const Report& report, std::span<const Report> earlier) {
  if (earlier.empty()) return "";
  std::vector<std::string> when;
  for (const Report& old : earlier) when.push_back(day(old.at));
  when.push_back(day(report.at));
  std::string out;
  for (const auto& [name, now] : report.metrics) {
    if (!name.ends_with(".pass_rate") && name != "retrieval.policy.ndcg@10" &&
        name != "retrieval.policy.hit@1")
      continue;
    std::vector<std::optional<double>> values;
    for (const Report& old : earlier) {
      const auto found = old.metrics.find(name);
      values.push_back(found == old.metrics.end() ? std::nullopt : std::optional(found->second));
    }
    values.emplace_back(now);
    out += line_chart(name, values, when);
  }
  return out.empty() ? "" : "<div class=\"charts\">\n" + out + "</div>\n";
}

// "dataset.citation_hit" is the row citation_hit, the column dataset.
std::string scores_table(const Report& report) {
  std::map<std::string, std::map<std::string, double>> rows;
  std::vector<std::string> columns;
  for (const auto& [metric, value] : report.metrics) {
    const size_t dot = metric.find('.');
    const std::string suite = metric.substr(0, dot);
    if (dot == std::string::npos || metric.find('.', dot + 1) != std::string::npos ||
        suite == "calibration" || metric.ends_with(".pass_rate"))
      continue;
    rows[metric.substr(dot + 1)][suite] = value;
    if (std::ranges::find(columns, suite) == columns.end()) columns.push_back(suite);
  }
  if (rows.empty()) return "";
  std::string body;
  for (const auto& [score, values] : rows) {
    std::string cells;
    for (const std::string& suite : columns) {
      const auto found = values.find(suite);
      cells +=
          number_cell(found == values.end() ? "–" : fmt::format("{:.3f}", rounded(found->second)));
    }
    body += row(score, cells);
  }
  for (std::string& suite : columns) suite.insert(0, 1, '#');
  columns.insert(columns.begin(), "score");
  return table("scores-table", "Mean over the trials that have the score; 1 is best", columns,
               body);
}

std::string categories_table(const Report& report) {
  std::string rows;
  Tallies all = tallies(report, [](const CaseResult& c) {
    return c.category.empty() ? "" : c.suite + "/" + c.category;
  });
  std::ranges::stable_sort(all, {}, [](const auto& named) { return named.second.rate(); });
  for (const auto& [name, tally] : all)
    rows += row(name, number_cell(fmt::format("{}/{}", tally.passed, tally.cases)) +
                          share_cells(tally.rate(), tally.run));
  const std::array<std::string, 4> columns = {"category", "#passed", "pass rate", "#95% interval"};
  return rows.empty() ? ""
                      : table("categories-table", "Pass rate of each category, the worst first",
                              columns, rows);
}

}  // namespace stoka::eval
