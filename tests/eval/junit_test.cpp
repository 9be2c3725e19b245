#include <doctest/doctest.h>

#include "eval/report.h"
#include "tags.h"

namespace junit_test {

using namespace stoka;
using namespace stoka::eval;
using namespace stoka::testing;

namespace {

CaseResult result(std::string suite, std::string id, size_t passes) {
  CaseResult out;
  out.suite = std::move(suite);
  out.id = std::move(id);
  out.category = "vague";
  out.query = "what is this?";
  out.answer = "a terminal.";
  out.trials = 1;
  out.passes = passes;
  if (passes == 0) out.why = {"citation_hit: cites b", "brevity: 5 sentences"};
  return out;
}

CaseResult not_run(std::string suite, std::string id) {
  CaseResult out = result(std::move(suite), std::move(id), 0);
  out.trials = 0;
  out.errors = 1;
  out.why.clear();
  out.error = "the generator does not answer";
  return out;
}

Report report() {
  Report out;
  out.suite = "all";
  out.cases = {result("constraints", "no-greeting", 1), result("dataset", "vague", 0),
               not_run("dataset", "gone"), result("dataset", "fine", 1)};
  out.at = "2026-04-12T10:00:00.000Z";
  out.seconds = 0.4125;
  return out;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("each suite and the total count tests, failures and errors") {
  const std::string xml = junit_xml(report());
  CHECK(xml.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites "));
  CHECK(has(
      xml,
      R"(<testsuites name="stoka eval" tests="4" failures="1" errors="1" skipped="0" time="0.412">)"));
  CHECK(has(xml, R"(<testsuite name="constraints" tests="1" failures="0" errors="0")"));
  CHECK(has(xml, R"(<testsuite name="dataset" tests="3" failures="1" errors="1")"));
  CHECK(has(xml, R"(timestamp="2026-04-12T10:00:00.000Z")"));
}

TEST_CASE("a passed testcase is empty, a failed one has its reasons") {
  const std::string xml = junit_xml(report());
  CHECK(has(xml, R"(<testcase classname="constraints.vague" name="no-greeting"/>)"));
  CHECK(has(xml,
            "<testcase classname=\"dataset.vague\" name=\"vague\">\n"
            "      <failure message=\"citation_hit: cites b\" type=\"check\">"
            "citation_hit: cites b\nbrevity: 5 sentences\n\n"
            "visitor: what is this?\nstoka: a terminal.\n</failure>\n    </testcase>"));
  CHECK(has(xml, R"(<error message="the generator does not answer" type="error">)"));
}

TEST_CASE("the details have trials, earlier turns and citations") {
  Report one;
  one.cases = {result("dataset", "a", 1)};
  one.cases[0].trials = 3;
  one.cases[0].before = {"what is stoka?"};
  one.cases[0].citations = {{"bounded", "Bounded", "Limits.", "blog", "1 min", "", "", 0.9}};
  const std::string xml = junit_xml(one);
  CHECK(has(xml, "passed 1 of 3 trials\n"));
  CHECK(has(xml, "visitor: what is stoka?\nvisitor: what is this?\n"));
  CHECK(has(xml, "cites bounded: &quot;Limits.&quot;\n"));
  CHECK(has(xml, "message=\"failed\""));
}

TEST_CASE("a report without cases gives a file without suites") {
  CHECK(tags(junit_xml(Report{})).size() == 3);
  CHECK(has(junit_xml(Report{}), "tests=\"0\""));
}

TEST_CASE(
    "untrusted text does not change the structure, and characters that XML forbids are removed") {
  const std::string hostile =
      "]]></failure></testcase><x y=\"'>\xff\xfe\x01\x1b[31m &amp; \uffff <!-- <![CDATA[";
  Report plain = report();
  Report bad = report();
  for (CaseResult& c : bad.cases) {
    for (std::string* text : {&c.id, &c.category, &c.query, &c.answer, &c.error}) *text = hostile;
    if (!c.why.empty()) c.why = {hostile, hostile};
  }
  bad.at = hostile;
  const std::string xml = junit_xml(bad);
  CHECK(tags(xml) == tags(junit_xml(plain)));
  CHECK_FALSE(has(xml, "]]>"));
  for (const char forbidden : {'\x01', '\x1b', '\xff', '\xfe'})
    CHECK(xml.find(forbidden) == std::string::npos);
  CHECK_FALSE(has(xml, "\uffff"));
}

}  // namespace junit_test
