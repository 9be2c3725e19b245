#include "eval/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "base/date.h"
#include "base/embedded.h"
#include "eval/html_case.h"
#include "eval/html_figures.h"
#include "eval/markup.h"

namespace stoka::eval {
namespace {

struct Section {
  std::string id;
  std::string title;
  std::string content;
};

std::string minute(const std::string& at) {
  constexpr size_t kTime = 11, kTimeEnd = 16;
  if (!parse_date(at) || at.size() < kTimeEnd) return at;
  return fmt::format("{} {} UTC", at.substr(0, kTime - 1), at.substr(kTime, kTimeEnd - kTime));
}

std::string anchor(size_t index) { return fmt::format("case-{}", index + 1); }

// In pieces that no line break should tear.
std::vector<std::string> verdict(const Report& report) {
  const size_t all = report.cases.size();
  const size_t passed = report.passed();
  const size_t errors = report.errors();
  const size_t failed = report.failed();
  if (all > 0 && passed == all) return {fmt::format("All {} passed", all)};
  std::vector<std::string> out = {fmt::format("{} of {} passed", passed, all)};
  if (failed > 0) out.push_back(fmt::format("{} failed", failed));
  if (errors > 0) out.push_back(fmt::format("{} could not be run", errors));
  return out;
}

using Anchors = std::map<std::string, std::string>;

std::string change(std::string_view kind, const std::string& name, const std::string& figures,
                   std::string_view why, const Anchors& anchors) {
  const auto found = anchors.find(name);
  const std::string shown =
      found == anchors.end() ? escaped(name)
                             : fmt::format("<a href=\"#{}\">{}</a>", found->second, escaped(name));
  return fmt::format(
      "<li class=\"{0}\"><span class=\"tag\">{0}</span> <span class=\"id\">{1}</span> "
      "<span class=\"num\">{2}</span> <span class=\"reason\">{3}</span></li>\n",
      kind, shown, figures, escaped(why));
}

std::string baseline(const Report& report, const Comparison& comparison) {
  Anchors anchors;
  for (size_t i = 0; i < report.cases.size(); ++i)
    anchors.emplace(report.cases[i].name(), anchor(i));
  std::string out;
  const auto add = [&](std::string_view kind, const Change& c) {
    const auto [before, now] = figures(c);
    out += change(kind, c.what, before + " → " + now, c.why, anchors);
  };
  for (const Change& c : comparison.worse) add("worse", c);
  for (const std::string& name : comparison.added) out += change("new", name, "fails", "", anchors);
  for (const Change& c : comparison.better) add("better", c);
  std::string notes;
  for (const std::string& line : remarks(comparison))
    notes += fmt::format("<p>{}</p>\n", escaped(line));
  return notes + (out.empty() ? "" : "<ul class=\"changes\">\n" + out + "</ul>\n");
}

double mean_score(const CaseResult& result) {
  const double sum = std::accumulate(result.scores.begin(), result.scores.end(), 0.0,
                                     [](double s, const auto& score) { return s + score.second; });
  return result.scores.empty() ? 0 : sum / static_cast<double>(result.scores.size());
}

std::string passing(const Report& report) {
  std::map<std::string, std::pair<size_t, std::string>> suites;
  for (size_t i = 0; i < report.cases.size(); ++i) {
    if (!report.cases[i].passed()) continue;
    auto& [n, folded] = suites[report.cases[i].suite];
    ++n;
    folded += case_details(report.cases[i], anchor(i));
  }
  std::string out;
  for (const auto& [suite, held] : suites)
    out +=
        fmt::format("<details class=\"group\">\n<summary>{}: {} case{}</summary>\n{}</details>\n",
                    escaped(suite), held.first, held.first == 1 ? "" : "s", held.second);
  return out;
}

std::string cases(const Report& report) {
  std::string out;
  for (const auto& [kind, title] :
       {std::pair{"error", "Could not be run"}, {"failing", "Failing"}}) {
    std::vector<size_t> order;
    for (size_t i = 0; i < report.cases.size(); ++i)
      if (standing(report.cases[i]) == kind) order.push_back(i);
    if (order.empty()) continue;
    std::ranges::stable_sort(order, {}, [&](size_t i) {
      return std::pair(report.cases[i].pass_rate(), mean_score(report.cases[i]));
    });
    out += fmt::format("<h3 id=\"{}\">{} <span class=\"count\">{}</span></h3>\n", kind, title,
                       order.size());
    for (const size_t i : order) out += case_article(report.cases[i], anchor(i));
  }
  if (const std::string folded = passing(report); !folded.empty())
    out += fmt::format("<h3 id=\"passing\">Passing <span class=\"count\">{}</span></h3>\n",
                       report.passed()) +
           folded;
  return out;
}

std::vector<Section> sections(const Report& report, std::span<const Report> earlier,
                              const Comparison* comparison) {
  std::vector<Section> all;
  all.push_back({"suites", "Suites", suites_table(report) + parts_list(report)});
  if (comparison != nullptr)
    all.push_back({"baseline", "Since the baseline", baseline(report, *comparison)});
  all.push_back({"stages", "Retrieval, stage by stage", stages_table(report)});
  all.push_back({"confidence", "Confidence", calibration_table(report)});
  all.push_back({"time", "Over time", charts(report, earlier)});
  all.push_back({"cases", "Cases", cases(report)});
  all.push_back({"categories", "Categories", categories_table(report)});
  all.push_back({"scores", "Scores", scores_table(report)});
  std::erase_if(all, [](const Section& section) { return section.content.empty(); });
  return all;
}

std::string_view style() {
  const EmbeddedFile* const file = embedded::find(embedded::evals(), "report.css");
  return file == nullptr ? "" : file->text;
}

std::string_view tone(const Report& report, const Comparison* comparison) {
  if (comparison != nullptr && comparison->regressed()) return "bad";
  return report.passed() == report.cases.size() ? "good" : "mixed";
}

std::string subline(const Report& report, const Comparison* comparison) {
  std::string out = fmt::format("<code>stoka eval {}</code>", escaped(report.suite));
  if (!report.at.empty()) out += " · " + escaped(minute(report.at));
  if (report.seconds > 0) out += fmt::format(" · {:.1f} s", rounded(report.seconds));
  if (comparison != nullptr)
    out += comparison->regressed()
               ? fmt::format(" · <a href=\"#baseline\">{} worse than the baseline</a>",
                             comparison->worse.size())
           : comparison->unmade > 0
               ? fmt::format(" · <a href=\"#baseline\">{} of the baseline could not be run</a>",
                             comparison->unmade)
               : " · <a href=\"#baseline\">no regression</a>";
  return out;
}

}  // namespace

std::string to_html(const Report& report, std::span<const Report> earlier,
                    const Comparison* comparison) {
  std::string nav;
  std::string body;
  for (const Section& section : sections(report, earlier, comparison)) {
    nav += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", section.id, section.title);
    body += fmt::format(
        "<section id=\"{0}\" aria-labelledby=\"{0}-title\">\n"
        "<h2 id=\"{0}-title\">{1}</h2>\n{2}</section>\n",
        section.id, section.title, section.content);
  }
  std::string line;
  std::string title;
  for (const std::string& piece : verdict(report)) {
    line += fmt::format("{}<span>{}</span>", line.empty() ? "" : ", ", piece);
    title += (title.empty() ? "" : ", ") + piece;
  }
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src 'unsafe-inline'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<title>stoka eval: {0}</title>\n<style>\n{1}</style>\n</head>\n<body>\n"
      "<header class=\"{2}\">\n<h1>{6}</h1>\n<p>{3}</p>\n"
      "<nav aria-label=\"Sections\"><ul>\n{4}</ul></nav>\n</header>\n<main>\n{5}</main>\n"
      "</body>\n</html>\n",
      title, style(), tone(report, comparison), subline(report, comparison), nav, body, line);
}

}  // namespace stoka::eval
