#include "eval/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "eval/interval.h"
#include "text/normalize.h"
#include "text/width.h"

namespace stoka::eval {
namespace {

constexpr size_t kMostWhy = 160;  // columns
constexpr size_t kMostName = 48;  // a longer one moves its own line alone

using Outcomes = std::map<std::string, const CaseResult*>;

Outcomes outcomes(const Report& report) {
  Outcomes out;
  for (const CaseResult& result : report.cases) out.emplace(result.name(), &result);
  return out;
}

// Calibration is measured with the queries of the retrieval suite.
std::string suite_of_metric(const std::string& metric) {
  const std::string first = metric.substr(0, metric.find('.'));
  return first == "calibration" ? "retrieval" : first;
}

// The means of cases are made anew of those that both reports have; single scores and categories
// say what the cases say already.
bool counts(const std::string& metric) {
  return suite_of_metric(metric) == "retrieval" && metric != "retrieval.pass_rate";
}

bool ran(const Report& report, const std::string& suite) {
  return report.suite == "all" || report.suite == suite ||
         std::ranges::any_of(report.cases, [&](const CaseResult& c) { return c.suite == suite; });
}

// What is asked, and what is due.
bool same_case(const CaseResult& a, const CaseResult& b) {
  return a.query == b.query && a.before == b.before &&
         (a.hash == b.hash || a.hash.empty() || b.hash.empty());
}

// Sums of pass rates.
struct Rates {
  double before = 0, now = 0, n = 0;
  void add(double was, double is) {
    before += was;
    now += is;
    n += 1;
  }
};

// Of a few trials that vary, one more or less says nothing.
bool differ(const CaseResult& a, const CaseResult& b) {
  if (a.trials <= 1 && b.trials <= 1) return true;
  const Interval before = wilson(a.pass_rate(), static_cast<double>(a.trials));
  const Interval now = wilson(b.pass_rate(), static_cast<double>(b.trials));
  return before.low > now.high || now.low > before.high;
}

class Comparing {
 public:
  explicit Comparing(double tolerance) : tolerance_(tolerance) { out_.tolerance = tolerance; }

  void add_unmade() { ++out_.unmade; }
  void add_changed(std::string name) { out_.changed.push_back(std::move(name)); }
  void add_part(const std::string& name, const std::string& before, const std::string& now) {
    if (before != now) out_.others.push_back(fmt::format("{}: {}, was {}", name, now, before));
  }

  void add(Change change) {
    // As written, or a figure would differ from itself in a file.
    change.before = rounded(change.before);
    change.now = rounded(change.now);
    constexpr double kNothing = 1e-9;
    const double gain = change.now - change.before;
    if (std::abs(gain) > tolerance_ + kNothing)
      (gain < 0 ? out_.worse : out_.better).push_back(std::move(change));
  }

  void add_new(std::string name) { out_.added.push_back(std::move(name)); }

  // Cases come before metrics where they lost as much: they say more.
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
  const std::string why = text::squeeze(text::one_line(change.why));
  return {verdict, text::one_line(change.what), std::move(before), std::move(now),
          text::truncate_to_width(why, kMostWhy)};
}

std::string padded(std::string text, size_t columns) {
  const size_t width = text::display_width(text);
  return std::move(text) + std::string(columns > width ? columns - width : 0, ' ');
}

}  // namespace

Comparison compare(const Report& baseline, const Report& report, double tolerance, bool some) {
  Comparing out(tolerance);
  for (const auto& [name, before] : baseline.parts)
    if (const auto part = report.parts.find(name); part != report.parts.end())
      out.add_part(name, before, part->second);
  const Outcomes old = outcomes(baseline);
  const Outcomes now = outcomes(report);
  std::set<std::string> unmade;         // suites with a case that could not be made: other means
  std::map<std::string, Rates> suites;  // over the cases that both have
  for (const CaseResult& result : report.cases) {
    const auto found = old.find(result.name());
    const CaseResult* before = found == old.end() ? nullptr : found->second;
    if (result.errors > 0) unmade.insert(result.suite);
    if (result.trials == 0) {
      if (before != nullptr) out.add_unmade();
    } else if (before == nullptr || before->trials == 0) {
      if (result.passes < result.trials) out.add_new(result.name());
    } else if (!same_case(*before, result)) {
      out.add_changed(result.name());
    } else {
      suites[result.suite].add(before->pass_rate(), result.pass_rate());
      const bool lost = result.pass_rate() < before->pass_rate();
      if (differ(*before, result))
        out.add({result.name(), before->pass_rate(), result.pass_rate(),
                 lost ? fmt::format("{}", fmt::join(result.why, "; ")) : "", false});
    }
  }
  if (some) return out.take();

  for (const CaseResult& result : baseline.cases)
    if (!now.contains(result.name()) && ran(report, result.suite))
      out.add({result.name(), result.pass_rate(), 0, "was not run", true});
  for (const auto& [suite, rates] : suites)
    if (!unmade.contains(suite))
      out.add({suite + ".pass_rate", rates.before / rates.n, rates.now / rates.n, "", false});
  for (const auto& [name, value] : baseline.metrics) {
    const std::string suite = suite_of_metric(name);
    const auto found = report.metrics.find(name);
    if (counts(name) && found != report.metrics.end() && ran(report, suite) &&
        !unmade.contains(suite))
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
                            comparison.added.size(), comparison.tolerance));
  if (comparison.unmade > 0)
    out.push_back(fmt::format("{} case{} of the baseline could not be run", comparison.unmade,
                              comparison.unmade == 1 ? "" : "s"));
  if (!comparison.changed.empty())
    out.push_back(fmt::format(
        "{} case{} of that name ask{} for something else now, not compared: {}",
        comparison.changed.size(), comparison.changed.size() == 1 ? "" : "s",
        comparison.changed.size() == 1 ? "s" : "", fmt::join(comparison.changed, ", ")));
  for (const std::string& part : comparison.others) out.push_back("other " + part);
  return out;
}

bool comparable(const Report& baseline, const Cases& cases) {
  const Outcomes old = outcomes(baseline);
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
  return OrderedJson{{"worse", list(comparison.worse)},  {"better", list(comparison.better)},
                     {"new", comparison.added},          {"changed", comparison.changed},
                     {"unmade", comparison.unmade},      {"other_parts", comparison.others},
                     {"tolerance", comparison.tolerance}}
      .dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

std::string to_text(const Comparison& comparison) {
  std::vector<ChangeLine> lines;
  for (const Change& change : comparison.worse) lines.push_back(line_of("worse", change));
  for (const std::string& name : comparison.added)
    lines.push_back({"new", text::one_line(name), "fails", "", ""});
  for (const Change& change : comparison.better) lines.push_back(line_of("better", change));

  size_t what = 0, before = 0, now = 0;
  for (const ChangeLine& line : lines) {
    what = std::min(std::max(what, text::display_width(line.what)), kMostName);
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
