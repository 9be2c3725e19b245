#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "base/date.h"
#include "base/embedded.h"
#include "eval/compare.h"
#include "eval/html_figures.h"
#include "eval/markup.h"
#include "eval/report.h"

namespace stoka::eval {
namespace {

std::string turn(std::string_view kind, std::string_view text) {
  return fmt::format("<li class=\"{}\" dir=\"auto\">{}</li>\n", kind, escape_markup(text));
}

std::string turns(const CaseResult& result) {
  std::string out = "<ol class=\"turns\">\n";
  for (const std::string& before : result.before) out += turn("earlier", before);
  return out + turn("judged", result.query) + "</ol>\n";
}

std::string reasons(const CaseResult& result) {
  std::string out;
  if (!result.error.empty())
    out +=
        fmt::format("<li class=\"error\">could not be run: {}</li>\n", escape_markup(result.error));
  for (const std::string& why : result.why) {
    const size_t colon = why.find(": ");
    out += colon == std::string::npos ? fmt::format("<li>{}</li>\n", escape_markup(why))
                                      : fmt::format("<li><strong>{}</strong> {}</li>\n",
                                                    escape_markup(why.substr(0, colon)),
                                                    escape_markup(why.substr(colon + 2)));
  }
  return out.empty() ? "" : "<ul class=\"why\">\n" + out + "</ul>\n";
}

std::string meta(const Citation& citation) {
  std::string out;
  const auto add = [&out](const std::string& part, std::string_view suffix) {
    if (part.empty()) return;
    out += (out.empty() ? "" : " · ") + escape_markup(part);
    out += suffix;
  };
  add(citation.type, "");
  add(citation.reading_time, " read");
  add(citation.date, "");
  return out;
}

std::string citation_card(const Citation& citation) {
  const std::string& title = citation.title.empty() ? citation.slug : citation.title;
  return fmt::format(
      "<figure class=\"cite\">\n<figcaption dir=\"auto\">{}</figcaption>\n"
      "<blockquote dir=\"auto\">“{}”</blockquote>\n<p class=\"meta\">{}</p>\n</figure>\n",
      escape_markup(title), escape_markup(citation.quote), meta(citation));
}

std::string panel(std::string_view kind, std::string_view heading, const std::string& content) {
  return fmt::format("<section class=\"{}\">\n<h5>{}</h5>\n{}</section>\n", kind, heading, content);
}

std::string text_paragraph(std::string_view text) {
  return text.empty() ? ""
                      : fmt::format("<p class=\"said\" dir=\"auto\">{}</p>\n", escape_markup(text));
}

// The paragraphs of the answer with citation cards in place of "[1]", "[2]". Citations without such
// a marker in the answer come last.
std::string shown_answer(const CaseResult& result) {
  std::string out;
  size_t next = 0;
  std::string_view rest = result.answer;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find("\n\n"), rest.size());
    const std::string_view paragraph = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 2, rest.size()));
    const bool is_place =
        next < result.citations.size() && paragraph == fmt::format("[{}]", next + 1);
    out += is_place ? citation_card(result.citations[next++]) : text_paragraph(paragraph);
  }
  for (; next < result.citations.size(); ++next) out += citation_card(result.citations[next]);
  return out;
}

std::string answers(const CaseResult& result) {
  const std::string shown = shown_answer(result);
  std::string out;
  if (!shown.empty()) out += panel("answer", "Answer", shown);
  if (!result.ideal.empty()) out += panel("ideal", "Ideal", text_paragraph(result.ideal));
  return out.empty() ? "" : "<div class=\"answers\">\n" + out + "</div>\n";
}

std::string fact(std::string_view name, const std::string& value, std::string_view kind = "") {
  return fmt::format("<div{}><dt>{}</dt><dd>{}</dd></div>\n",
                     kind.empty() ? "" : fmt::format(" class=\"{}\"", kind), escape_markup(name),
                     escape_markup(value));
}

std::string facts(const CaseResult& result) {
  std::string out;
  if (!result.route.empty()) out += fact("route", result.route);
  if (!result.confidence.empty()) out += fact("confidence", result.confidence);
  if (result.best_score > 0)
    out += fact("best score", fmt::format("{:.2f}", rounded(result.best_score)));
  if (result.trials + result.errors > 1) {
    out += fact("trials", fmt::format("{} of {} passed", result.passes, result.trials));
    if (result.errors > 0) out += fact("errors", std::to_string(result.errors));
  }
  for (const auto& [name, value] : result.scores)
    out += fact(name, fmt::format("{:.2f}", rounded(value)),
                value < 0.5 ? "low"
                : value < 1 ? "less"
                            : "");
  return out.empty() ? "" : "<dl class=\"facts\">\n" + out + "</dl>\n";
}

std::string note(const CaseResult& result) {
  return result.note.empty()
             ? ""
             : fmt::format("<p class=\"note\" dir=\"auto\">{}</p>\n", escape_markup(result.note));
}

std::string body(const CaseResult& result) {
  return turns(result) + reasons(result) + answers(result) + facts(result) + note(result);
}

std::string category(const CaseResult& result) {
  return result.category.empty()
             ? ""
             : fmt::format(" <span class=\"category\">{}</span>", escape_markup(result.category));
}

// The CSS class of a case: "failing", "error", "passing".
std::string_view status_class(const CaseResult& result) {
  if (result.errors > 0) return "error";
  return result.passed() ? "passing" : "failing";
}

// The case as an open article with an h4 heading; `anchor` is its id.
std::string case_article(const CaseResult& result, const std::string& anchor) {
  return fmt::format(
      "<article class=\"case {}\" id=\"{}\">\n<h4><span>{}/</span>{}</h4>{}\n{}</article>\n",
      status_class(result), anchor, escape_markup(result.suite), escape_markup(result.id),
      category(result), body(result));
}

// The case as a collapsed element that shows only the id and the query until it is opened.
std::string case_details(const CaseResult& result, const std::string& anchor) {
  return fmt::format(
      "<details class=\"case {}\" id=\"{}\">\n<summary><h4>{}</h4> "
      "<span class=\"asked\" dir=\"auto\">{}</span></summary>\n{}</details>\n",
      status_class(result), anchor, escape_markup(result.id), escape_markup(result.query),
      body(result));
}

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

// The verdict in parts. A line may break between two parts, but not within a part.
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
      found == anchors.end()
          ? escape_markup(name)
          : fmt::format("<a href=\"#{}\">{}</a>", found->second, escape_markup(name));
  return fmt::format(
      "<li class=\"{0}\"><span class=\"tag\">{0}</span> <span class=\"id\">{1}</span> "
      "<span class=\"num\">{2}</span> <span class=\"reason\">{3}</span></li>\n",
      kind, shown, figures, escape_markup(why));
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
  for (const std::string& name : comparison.new_failures)
    out += change("new", name, "fails", "", anchors);
  for (const Change& c : comparison.better) add("better", c);
  std::string notes;
  for (const std::string& line : remarks(comparison))
    notes += fmt::format("<p>{}</p>\n", escape_markup(line));
  return notes + (out.empty() ? "" : "<ul class=\"changes\">\n" + out + "</ul>\n");
}

double mean_score(const CaseResult& result) {
  const double sum = std::accumulate(result.scores.begin(), result.scores.end(), 0.0,
                                     [](double s, const auto& score) { return s + score.second; });
  return result.scores.empty() ? 0 : sum / static_cast<double>(result.scores.size());
}

// The passing cases, collapsed by suite.
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
                    escape_markup(suite), held.first, held.first == 1 ? "" : "s", held.second);
  return out;
}

// The failing cases, the worst first, then the passing ones.
std::string cases(const Report& report) {
  std::string out;
  for (const auto& [kind, title] :
       {std::pair{"error", "Could not be run"}, {"failing", "Failing"}}) {
    std::vector<size_t> order;
    for (size_t i = 0; i < report.cases.size(); ++i)
      if (status_class(report.cases[i]) == kind) order.push_back(i);
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
  std::string out = fmt::format("<code>stoka eval {}</code>", escape_markup(report.suite));
  if (!report.at.empty()) out += " · " + escape_markup(minute(report.at));
  if (report.seconds > 0) out += fmt::format(" · {:.1f} s", rounded(report.seconds));
  if (comparison != nullptr)
    out += comparison->regressed()
               ? fmt::format(" · <a href=\"#baseline\">{} worse than the baseline</a>",
                             comparison->worse.size())
           : comparison->not_run > 0
               ? fmt::format(" · <a href=\"#baseline\">{} of the baseline could not be run</a>",
                             comparison->not_run)
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
