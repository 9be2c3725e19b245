#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "eval/report.h"
#include "eval/stages.h"
#include "eval/statistics.h"
#include "text/normalize.h"
#include "text/width.h"

namespace stoka::eval {
namespace {

constexpr size_t kMaxAnswerColumns = 100;

std::string percent(double share) {
  // A share below 1 is never rounded up to 100 %.
  const int shown = static_cast<int>(100 * share + 0.5);
  return fmt::format("{} %", share < 1 ? std::min(shown, 99) : shown);
}

const double* find_metric(const std::map<std::string, double>& metrics, const std::string& name) {
  const auto found = metrics.find(name);
  return found == metrics.end() ? nullptr : &found->second;
}

std::vector<std::string> suites(const Report& report) {
  std::vector<std::string> out;
  for (const CaseResult& one : report.cases)
    if (std::find(out.begin(), out.end(), one.suite) == out.end()) out.push_back(one.suite);
  return out;
}

std::string suite_line(const Report& report, const std::string& suite) {
  size_t cases = 0, passed = 0, errors = 0, completed = 0;
  for (const CaseResult& one : report.cases) {
    if (one.suite != suite) continue;
    ++cases;
    passed += one.passed() ? 1 : 0;
    errors += one.errors > 0 ? 1 : 0;
    completed += one.trials > 0 ? 1 : 0;
  }
  std::string out = fmt::format("{:<13} {:>4} {:<8} {:>4} passed {:>4} failed", suite, cases,
                                suite == "retrieval"       ? "queries"
                                : suite == "conversations" ? "turns"
                                                           : "cases",
                                passed, cases - passed - errors);
  if (errors > 0) out += fmt::format(" {:>4} not run", errors);
  if (const double* rate = find_metric(report.metrics, suite + ".pass_rate")) {
    const Interval range = wilson_interval(*rate, static_cast<double>(completed));
    out += fmt::format("   {:>5}   (95 %: {:.0f} to {:.0f})", percent(*rate), 100 * range.low,
                       100 * range.high);
  }
  return out + "\n";
}

// Lists the shares below 100 % by name, and gives only the number of the others.
std::string incomplete_shares(std::string_view what,
                              const std::vector<std::pair<std::string, double>>& shares) {
  constexpr size_t kMaxLineColumns = 88;
  std::string out, line;
  size_t whole = 0;
  for (const auto& [name, value] : shares) {
    if (value >= 1) {
      ++whole;
      continue;
    }
    const std::string item = fmt::format("{} {}", name, percent(value));
    if (!line.empty() && line.size() + item.size() > kMaxLineColumns) {
      out += "  " + std::exchange(line, "") + ",\n";
    }
    line += (line.empty() ? "" : ", ") + item;
  }
  if (whole > 0)
    line += fmt::format("{}{}{} {} 100 %", line.empty() ? "" : "; ",
                        line.empty() && out.empty() ? "all " : "the other ", whole, what);
  return line.empty() ? out : out + "  " + line + "\n";
}

std::string score_lines(const Report& report, const std::string& suite) {
  constexpr std::string_view kCategory = "category.";
  const std::string prefix = suite + ".";
  std::vector<std::pair<std::string, double>> scores, categories;
  for (const auto& [name, value] : report.metrics) {
    if (!name.starts_with(prefix)) continue;
    const std::string rest = name.substr(prefix.size());
    if (rest.starts_with(kCategory) && suite == "conversations") continue;  // see kind_table()
    if (rest.starts_with(kCategory))
      categories.emplace_back(rest.substr(kCategory.size()), value);
    else if (rest != "pass_rate")
      scores.emplace_back(rest, value);
  }
  return incomplete_shares("scores", scores) + incomplete_shares("categories", categories);
}

// The turns by kind of conversation, and the number of conversations whose turns are all correct.
std::string kind_table(const Report& report) {
  std::map<std::string, std::pair<size_t, size_t>> kinds;  // numbers of turns and of correct turns
  std::map<std::string, bool> conversations;               // whether all turns are correct
  size_t columns = std::string_view("kind").size();
  for (const CaseResult& one : report.cases) {
    if (one.suite != "conversations") continue;
    const bool passed = one.passed();
    auto& [turns, right] = kinds[one.category.empty() ? "-" : one.category];
    turns += 1;
    right += passed ? 1 : 0;
    columns = std::max(columns, text::display_width(one.category));
    bool& all = conversations.emplace(one.id.substr(0, one.id.rfind('#')), true).first->second;
    all = all && passed;
  }
  if (kinds.empty()) return {};
  std::string out = fmt::format("  {:<{}} {:>5} {:>7}\n", "kind", columns, "turns", "right");
  for (const auto& [kind, counts] : kinds)
    out += fmt::format(
        "  {:<{}} {:>5} {:>7}\n", kind, columns, counts.first,
        percent(static_cast<double>(counts.second) / static_cast<double>(counts.first)));
  const auto whole = std::count_if(conversations.begin(), conversations.end(),
                                   [](const auto& one) { return one.second; });
  return out + fmt::format("  {} of {} conversations are right in every turn\n", whole,
                           conversations.size());
}

std::string stage_table(const Report& report) {
  std::string rows;
  std::vector<std::string> names;
  for (const auto& [name, value] : named(RankingScores{})) names.push_back(name);
  for (const std::string_view stage : kStages) {
    const std::string prefix = fmt::format("retrieval.{}", stage);
    if (find_metric(report.metrics, prefix + "." + names.front()) == nullptr) continue;
    rows += fmt::format("  {:<9}", stage);
    for (const std::string& name : names)
      rows += fmt::format(" {:>9.3f}", report.metrics.at(prefix + "." + name));
    if (const auto ms = report.latency.find(prefix); ms != report.latency.end())
      rows += fmt::format(" {:>8.1f} {:>7.1f}", ms->second.p50, ms->second.p95);
    rows += "\n";
  }
  if (rows.empty()) return {};
  std::string head = fmt::format("  {:<9}", "stage");
  for (const std::string& name : names) head += fmt::format(" {:>9}", name);
  return "\n" + head + fmt::format(" {:>8} {:>7}\n", "p50 ms", "p95") + rows;
}

std::string calibration_lines(const Report& report) {
  if (report.calibration.empty()) return {};
  std::string out = fmt::format("\n  {:<11} {:>4} {:>7}\n", "confidence", "n", "right");
  for (const ConfidenceClass& one : report.calibration)
    out += fmt::format("  {:<11} {:>4} {:>7}\n", one.name, one.n,
                       one.n == 0 ? "-" : percent(one.share()));
  std::string shares;
  for (const auto& [name, words] : {std::pair{"answered", "of the answerable questions answered"},
                                    {"refused", "of the others refused"}})
    if (const double* share = find_metric(report.metrics, fmt::format("retrieval.{}", name)))
      shares += fmt::format("{}{} {}", shares.empty() ? "  " : ", ", percent(*share), words);
  return out + (shares.empty() ? "" : shares + "\n");
}

std::string case_lines(const CaseResult& one, size_t repeat) {
  std::string rate;
  if (repeat > 1 && one.trials > 0) {
    const Interval range = wilson_interval(one.pass_rate(), static_cast<double>(one.trials));
    rate = fmt::format("  {} of {} ({:.0f} to {:.0f} %)", one.passes, one.trials, 100 * range.low,
                       100 * range.high);
  }
  std::string out =
      fmt::format("  {}{}\n    \"{}\"\n", one.name(), rate, text::one_line(one.query));
  if (one.errors > 0) out += fmt::format("    not run: {}\n", one.error);
  if (!one.route.empty()) {
    const std::string got = text::collapse_whitespace(text::one_line(one.answer));
    out += fmt::format("    -> {}, {} {:.2f}: {}\n", one.route, one.confidence, one.best_score,
                       text::truncate_to_width(got, kMaxAnswerColumns));
  }
  for (const std::string& why : one.why) out += fmt::format("    {}\n", text::one_line(why));
  return out;
}

// Queries whose relevant document was found but whose confidence is nothing, so that a visitor gets
// no answer.
std::string refused_lines(const Report& report) {
  std::string out;
  for (const CaseResult& one : report.cases)
    if (one.suite == "retrieval" && one.passed() && one.confidence == "nothing")
      out += fmt::format("  {}  {:.2f}\n", one.name(), one.best_score);
  return out.empty() ? out
                     : "\nfound, but refused: the best score is below threshold.nothing\n" + out;
}

std::string scores_of(const CaseResult& one) {
  std::string out;
  for (const auto& [name, value] : one.scores) {
    if (!out.empty()) out += "  ";
    out += value == 1 || value == 0 ? fmt::format("{} {}", name, value == 1 ? "ok" : "FAILED")
                                    : fmt::format("{} {:.2f}", name, value);
  }
  return out;
}

}  // namespace

std::string to_table(const Report& report, bool all) {
  std::string out;
  for (const std::string& suite : suites(report)) {
    out += suite_line(report, suite) + (suite == "retrieval" ? "" : score_lines(report, suite));
    if (suite == "conversations") out += kind_table(report);
  }
  out += stage_table(report) + calibration_lines(report);
  std::string failed;
  for (const CaseResult& one : report.cases)
    if (!one.passed()) failed += case_lines(one, report.repeat);
  out += refused_lines(report);
  if (!failed.empty()) out += "\nfailed, or not run\n" + failed;
  if (!all) return out;
  out += "\nall cases\n";
  for (const CaseResult& one : report.cases)
    out += fmt::format("  {:<7} {}\n          {}\n",
                       one.passed()     ? "ok"
                       : one.errors > 0 ? "not run"
                                        : "FAILED",
                       one.name(), scores_of(one));
  return out;
}

}  // namespace stoka::eval
