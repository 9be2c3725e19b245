#include "eval/html_case.h"

#include <fmt/format.h>

#include <algorithm>

#include "eval/markup.h"

namespace stoka::eval {
namespace {

std::string turn(std::string_view kind, std::string_view text) {
  return fmt::format("<li class=\"{}\" dir=\"auto\">{}</li>\n", kind, escaped(text));
}

std::string turns(const CaseResult& result) {
  std::string out = "<ol class=\"turns\">\n";
  for (const std::string& before : result.before) out += turn("earlier", before);
  return out + turn("judged", result.query) + "</ol>\n";
}

std::string reasons(const CaseResult& result) {
  std::string out;
  if (!result.error.empty())
    out += fmt::format("<li class=\"error\">could not be run: {}</li>\n", escaped(result.error));
  for (const std::string& why : result.why) {
    const size_t colon = why.find(": ");
    out += colon == std::string::npos
               ? fmt::format("<li>{}</li>\n", escaped(why))
               : fmt::format("<li><strong>{}</strong> {}</li>\n", escaped(why.substr(0, colon)),
                             escaped(why.substr(colon + 2)));
  }
  return out.empty() ? "" : "<ul class=\"why\">\n" + out + "</ul>\n";
}

std::string meta(const Citation& citation) {
  std::string out;
  const auto add = [&out](const std::string& part, std::string_view suffix) {
    if (part.empty()) return;
    out += (out.empty() ? "" : " · ") + escaped(part);
    out += suffix;
  };
  add(citation.type, "");
  add(citation.reading_time, " read");
  add(citation.date, "");
  return out;
}

std::string card(const Citation& citation) {
  const std::string& title = citation.title.empty() ? citation.slug : citation.title;
  return fmt::format(
      "<figure class=\"cite\">\n<figcaption dir=\"auto\">{}</figcaption>\n"
      "<blockquote dir=\"auto\">“{}”</blockquote>\n<p class=\"meta\">{}</p>\n</figure>\n",
      escaped(title), escaped(citation.quote), meta(citation));
}

std::string panel(std::string_view kind, std::string_view heading, const std::string& content) {
  return fmt::format("<section class=\"{}\">\n<h5>{}</h5>\n{}</section>\n", kind, heading, content);
}

std::string said(std::string_view text) {
  return text.empty() ? "" : fmt::format("<p class=\"said\" dir=\"auto\">{}</p>\n", escaped(text));
}

// Citations where they stood, what has no place last.
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
    out += is_place ? card(result.citations[next++]) : said(paragraph);
  }
  for (; next < result.citations.size(); ++next) out += card(result.citations[next]);
  return out;
}

std::string answers(const CaseResult& result) {
  const std::string shown = shown_answer(result);
  std::string out;
  if (!shown.empty()) out += panel("answer", "Answer", shown);
  if (!result.ideal.empty()) out += panel("ideal", "Ideal", said(result.ideal));
  return out.empty() ? "" : "<div class=\"answers\">\n" + out + "</div>\n";
}

std::string fact(std::string_view name, const std::string& value, std::string_view kind = "") {
  return fmt::format("<div{}><dt>{}</dt><dd>{}</dd></div>\n",
                     kind.empty() ? "" : fmt::format(" class=\"{}\"", kind), escaped(name),
                     escaped(value));
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
             : fmt::format("<p class=\"note\" dir=\"auto\">{}</p>\n", escaped(result.note));
}

std::string body(const CaseResult& result) {
  return turns(result) + reasons(result) + answers(result) + facts(result) + note(result);
}

std::string category(const CaseResult& result) {
  return result.category.empty()
             ? ""
             : fmt::format(" <span class=\"category\">{}</span>", escaped(result.category));
}

}  // namespace

std::string_view standing(const CaseResult& result) {
  if (result.errors > 0) return "error";
  return result.passed() ? "passing" : "failing";
}

std::string case_article(const CaseResult& result, const std::string& anchor) {
  return fmt::format(
      "<article class=\"case {}\" id=\"{}\">\n<h4><span>{}/</span>{}</h4>{}\n{}</article>\n",
      standing(result), anchor, escaped(result.suite), escaped(result.id), category(result),
      body(result));
}

std::string case_details(const CaseResult& result, const std::string& anchor) {
  return fmt::format(
      "<details class=\"case {}\" id=\"{}\">\n<summary><h4>{}</h4> "
      "<span class=\"asked\" dir=\"auto\">{}</span></summary>\n{}</details>\n",
      standing(result), anchor, escaped(result.id), escaped(result.query), body(result));
}

}  // namespace stoka::eval
