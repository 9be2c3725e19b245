#include "eval/html_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/date.h"
#include "eval/markup.h"
#include "eval/report.h"
#include "eval/stages.h"
#include "eval/statistics.h"

namespace stoka::eval {
namespace {

// Functions for tables. Text is escaped; cells are HTML already.

std::string percent_text(double share) { return fmt::format("{:.1f}%", rounded(share) * 100); }

// A right-aligned cell. `kind` is an additional CSS class.
std::string number_cell(const std::string& text, std::string_view kind = "") {
  return fmt::format("<td class=\"num{}{}\">{}</td>", kind.empty() ? "" : " ", kind,
                     escape_markup(text));
}

std::string number_cell(size_t n) { return number_cell(std::to_string(n)); }

// Two cells: a share of n as a figure and a bar, and its interval as whiskers and in figures. Both
// are dashes if n is 0.
std::string share_cells(double share, size_t n) {
  if (n == 0) return "<td class=\"share\">–</td>" + number_cell("–");
  const Interval range = wilson_interval(share, static_cast<double>(n));
  return fmt::format(
             "<td class=\"share\"><div><span>{}</span><span class=\"bar\" aria-hidden=\"true\">"
             "<i style=\"width:{:.1f}%\"></i><b style=\"left:{:.1f}%;width:{:.1f}%\"></b></span>"
             "</div></td>",
             percent_text(share), share * 100, range.low * 100, (range.high - range.low) * 100) +
         number_cell(fmt::format("{:.1f}–{:.1f}%", range.low * 100, range.high * 100));
}

std::string table_row(std::string_view name, const std::string& cells) {
  return fmt::format("<tr><th scope=\"row\">{}</th>{}</tr>\n", escape_markup(name), cells);
}

// A table of the given rows. A column whose name begins with '#' holds numbers. A table that is too
// wide scrolls sideways. `id` must be unique on the page.
std::string table(std::string_view id, std::string_view caption,
                  std::span<const std::string> columns, const std::string& rows) {
  std::string head;
  for (const std::string& column : columns) {
    const bool number = column.starts_with('#');
    head += fmt::format("<th scope=\"col\"{}>{}</th>", number ? " class=\"num\"" : "",
                        escape_markup(column.substr(number ? 1 : 0)));
  }
  return fmt::format(
      "<p class=\"caption\" id=\"{0}-caption\">{1}</p>\n"
      "<div class=\"scroll\" role=\"region\" aria-labelledby=\"{0}-caption\" tabindex=\"0\">\n"
      "<table aria-labelledby=\"{0}-caption\">\n<thead><tr>{2}</tr></thead>\n<tbody>\n{3}</tbody>\n"
      "</table>\n</div>\n",
      id, escape_markup(caption), head, rows);
}

std::string milliseconds(double ms) {
  return fmt::format("{:.{}f} ms", rounded(ms), ms < 10 ? 2 : ms < 100 ? 1 : 0);
}

std::string date_of(const std::string& at) {
  const std::optional<Date> date = parse_date(at);
  return date ? iso_date(*date) : at;
}

// Shows counts of cases, and the mean pass rate of those that could be run.
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

// Functions for charts. Lengths are units of the SVG view box, which is scaled to its figure.
constexpr double kWidth = 320;
constexpr double kHeight = 112;
constexpr double kLeft = 34;  // the width of the longest axis label, "0.90"
constexpr double kMargin = 10;
constexpr double kAxisStep = 0.1;  // both ends of the axis are multiples of this step

struct Point {
  double x = 0;
  double value = 0;
  std::string when;
};

struct ChartAxis {
  double low = 0;
  double high = 1;

  double y(double value) const {
    const double share = (value - low) / (high - low);
    return kHeight - kMargin - share * (kHeight - 2 * kMargin);
  }
};

std::vector<Point> points(std::span<const std::optional<double>> values,
                          std::span<const std::string> when) {
  std::vector<Point> out;
  const double steps = values.size() > 1 ? static_cast<double>(values.size() - 1) : 1;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!values[i]) continue;
    const double x = kLeft + static_cast<double>(i) / steps * (kWidth - kLeft - kMargin);
    out.push_back({x, std::clamp(rounded(*values[i]), 0.0, 1.0), when[i]});
  }
  return out;
}

ChartAxis axis(double lowest, double highest) {
  constexpr double kEpsilon = 1e-9;  // a tolerance, as 0.3 / 0.1 is slightly less than 3
  ChartAxis out{std::floor(lowest / kAxisStep + kEpsilon) * kAxisStep,
                std::ceil(highest / kAxisStep - kEpsilon) * kAxisStep};
  if (out.high - out.low < kAxisStep / 2)
    (out.low > 0 ? out.low : out.high) += out.low > 0 ? -kAxisStep : kAxisStep;
  return out;
}

std::string rule(const ChartAxis& axis, double value) {
  const double y = axis.y(value);
  return fmt::format(
      "<line class=\"rule\" x1=\"{:.0f}\" x2=\"{:.0f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>"
      "<text x=\"{:.0f}\" y=\"{:.1f}\">{:.1f}</text>",
      kLeft, kWidth - kMargin, y, y, kLeft - 6, y + 3.5, value);
}

}  // namespace

std::string suites_table(const Report& report) {
  std::string rows;
  for (const auto& [name, tally] : tallies(report, [](const CaseResult& c) { return c.suite; }))
    rows += table_row(name, number_cell(tally.passed) + number_cell(tally.failed()) +
                                number_cell(tally.errors) + share_cells(tally.rate(), tally.run));
  if (rows.empty()) return "";
  const std::array<std::string, 6> columns = {"suite",   "#passed",   "#failed",
                                              "#errors", "pass rate", "#95% interval"};
  return table("suites-table", "Mean pass rate of the cases that could be run", columns, rows);
}

std::string parts_list(const Report& report) {
  std::string out;
  for (const auto& [name, value] : report.parts)
    out += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escape_markup(name),
                       escape_markup(value));
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
  std::map<std::string_view, std::string> cells;  // the HTML of each cell, by the name of its stage
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
    rows +=
        table_row(stage, cells[stage] + number_cell(timed ? milliseconds(ms->second.p50) : "–") +
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
    const size_t right = std::min(c.correct, c.n);
    const double share = c.n == 0 ? 0 : static_cast<double>(right) / static_cast<double>(c.n);
    rows += table_row(c.name, number_cell(c.n) + number_cell(right) + share_cells(share, c.n));
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
  for (const Report& old : earlier) when.push_back(date_of(old.at));
  when.push_back(date_of(report.at));
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

// The metric "dataset.citation_hit" is in the row citation_hit and the column dataset.
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
    body += table_row(score, cells);
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
    rows += table_row(name, number_cell(fmt::format("{}/{}", tally.passed, tally.cases)) +
                                share_cells(tally.rate(), tally.run));
  const std::array<std::string, 4> columns = {"category", "#passed", "pass rate", "#95% interval"};
  return rows.empty() ? ""
                      : table("categories-table", "Pass rate of each category, the worst first",
                              columns, rows);
}

std::string line_chart(std::string_view name, std::span<const std::optional<double>> values,
                       std::span<const std::string> when) {
  const std::vector<Point> all = points(values, when);
  if (all.empty()) return "";
  const auto [lowest, highest] = std::ranges::minmax_element(all, {}, &Point::value);
  const ChartAxis scale = axis(lowest->value, highest->value);

  std::string line;
  std::string dots;
  for (const Point& point : all) {
    const bool last = &point == &all.back();
    const double y = scale.y(point.value);
    line += fmt::format("{}{:.1f},{:.1f}", line.empty() ? "" : " ", point.x, y);
    dots += fmt::format(
        "<circle{} cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"><title>{}: {:.3f}</title></circle>",
        last ? " class=\"last\"" : "", point.x, y, last ? 4 : 2.5, escape_markup(point.when),
        point.value);
  }
  const std::string words = escape_markup(
      fmt::format("{} over {} reports: {:.3f} on {}, {:.3f} on {}; lowest {:.3f}, highest {:.3f}",
                  name, all.size(), all.front().value, all.front().when, all.back().value,
                  all.back().when, lowest->value, highest->value));
  return fmt::format(
      "<figure class=\"chart\">\n"
      "<figcaption><code>{}</code> <span class=\"num\">{:.3f} → <strong>{:.3f}</strong></span>"
      "</figcaption>\n"
      "<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\">{}{}"
      "<polyline points=\"{}\"/>{}</svg>\n"
      "<p class=\"ends\"><span>{}</span><span>{}</span></p>\n"
      "</figure>\n",
      escape_markup(name), all.front().value, all.back().value, kWidth, kHeight, words,
      rule(scale, scale.high), rule(scale, scale.low), line, dots, escape_markup(all.front().when),
      escape_markup(all.back().when));
}

}  // namespace stoka::eval
