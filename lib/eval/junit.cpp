#include <fmt/format.h>

#include "eval/markup.h"
#include "eval/report.h"
#include "text/normalize.h"

namespace stoka::eval {
namespace {

struct Counts {
  size_t tests = 0;
  size_t failures = 0;
  size_t errors = 0;

  void add(const CaseResult& result) {
    ++tests;
    if (result.errors > 0)
      ++errors;
    else if (!result.passed())
      ++failures;
  }

  std::string attributes() const {
    return fmt::format(R"(tests="{}" failures="{}" errors="{}" skipped="0")", tests, failures,
                       errors);
  }
};

std::string line(std::string_view text) {
  return escape_markup(text::collapse_whitespace(text::one_line(text)));
}

// The body of a failure as a CI server shows it: the reasons, the turns and the citations.
std::string details(const CaseResult& result) {
  std::string out;
  for (const std::string& why : result.why) out += why + '\n';
  if (result.trials > 1)
    out += fmt::format("passed {} of {} trials\n", result.passes, result.trials);
  for (const std::string& turn : result.before) out += "\nvisitor: " + turn;
  out += "\nvisitor: " + result.query + '\n';
  if (!result.answer.empty()) out += "stoka: " + result.answer + '\n';
  for (const Citation& citation : result.citations)
    out += fmt::format("cites {}: \"{}\"\n", citation.slug, citation.quote);
  return escape_markup(out);
}

std::string first_reason(const CaseResult& result) {
  if (!result.why.empty()) return result.why.front();
  return result.trials == 0 ? "was not run" : "failed";
}

std::string testcase(const CaseResult& result) {
  std::string out = fmt::format(
      R"(    <testcase classname="{}" name="{}")",
      line(result.category.empty() ? result.suite : result.suite + "." + result.category),
      line(result.id));
  if (result.passed()) return out + "/>\n";
  out += ">\n";
  if (result.errors > 0) {
    out += fmt::format("      <error message=\"{}\" type=\"error\">{}</error>\n",
                       line(result.error), details(result));
  } else {
    out += fmt::format("      <failure message=\"{}\" type=\"check\">{}</failure>\n",
                       line(first_reason(result)), details(result));
  }
  return out + "    </testcase>\n";
}

// Cases of one suite follow each other.
std::string testsuites(const Report& report) {
  std::string out;
  for (size_t i = 0; i < report.cases.size();) {
    const std::string& suite = report.cases[i].suite;
    Counts counts;
    std::string cases;
    for (; i < report.cases.size() && report.cases[i].suite == suite; ++i) {
      counts.add(report.cases[i]);
      cases += testcase(report.cases[i]);
    }
    out += fmt::format(
        "  <testsuite name=\"{}\" {}{}>\n{}  </testsuite>\n", line(suite), counts.attributes(),
        report.at.empty() ? "" : fmt::format(R"( timestamp="{}")", line(report.at)), cases);
  }
  return out;
}

}  // namespace

std::string junit_xml(const Report& report) {
  Counts counts;
  for (const CaseResult& result : report.cases) counts.add(result);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites name=\"stoka eval\" {} time=\"{:.3f}\">\n{}</testsuites>\n",
      counts.attributes(), rounded(report.seconds), testsuites(report));
}

}  // namespace stoka::eval
