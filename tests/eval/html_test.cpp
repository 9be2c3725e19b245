#include <doctest/doctest.h>

#include <algorithm>

#include "eval/compare.h"
#include "eval/report.h"
#include "tags.h"

namespace html_test {

using namespace stoka;
using namespace stoka::eval;
using namespace stoka::testing;

namespace {

CaseResult result(std::string suite, std::string id, size_t passes, size_t trials = 1) {
  CaseResult out;
  out.suite = std::move(suite);
  out.id = std::move(id);
  out.category = "vague";
  out.query = "what is this?";
  out.before = {"hm?"};
  out.answer = "a terminal.";
  out.citations = {
      {"bounded", "Bounded Execution", "Limits first.", "blog", "8 min", "Apr 12", "", 0.9}};
  out.ideal = "ask for one thing";
  out.note = "on purpose";
  out.route = "new";
  out.confidence = "low";
  out.best_score = 0.51;
  out.trials = trials;
  out.passes = passes;
  out.scores = {{"brevity", 1}, {"citation_hit", passes == trials ? 1 : 0}};
  if (passes < trials) out.why = {"citation_hit: cites b"};
  return out;
}

CaseResult not_run(std::string id) {
  CaseResult out = result("dataset", std::move(id), 0, 0);
  out.errors = 1;
  out.why.clear();
  out.error = "the generator does not answer";
  return out;
}

Report report() {
  Report out;
  out.suite = "all";
  out.parts = {{"embedder", "builtin"}};
  out.cases = {result("dataset", "fine", 1), result("dataset", "half", 1, 2),
               result("dataset", "bad", 0), not_run("gone")};
  out.metrics = {{"dataset.pass_rate", 0.5},         {"dataset.citation_hit", 0.5},
                 {"retrieval.policy.ndcg@10", 0.91}, {"retrieval.lexical.ndcg@10", 0.85},
                 {"retrieval.policy.hit@1", 0.875},  {"retrieval.lexical.mrr", 0.8}};
  out.latency = {{"retrieval.lexical", {0.05, 12.3}}};
  out.calibration = {{"direct", 10, 9}, {"low", 0, 0}};
  out.at = "2026-04-12T10:00:00.000Z";
  out.seconds = 0.4;
  return out;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string without_style(const std::string& page) {
  constexpr std::string_view kEnd = "</style>";
  const size_t begin = page.find("<style>");
  return page.substr(0, begin) + page.substr(page.find(kEnd) + kEnd.size());
}

// The first tag that is not closed where it should be.
std::string unbalanced(const std::string& page) {
  std::vector<std::string> open;
  for (const std::string& tag : tags(without_style(page))) {
    const std::string name = tag.substr(1, tag.find_first_of(" >/", 2) - 1);
    if (tag[1] == '!' || tag.ends_with("/>") || name == "meta") continue;
    if (tag[1] != '/') {
      open.push_back(name);
    } else if (open.empty() || "/" + open.back() != tag.substr(1, tag.size() - 2)) {
      return tag;
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : open.back();
}

}  // namespace

TEST_CASE("heading and title of the report give the verdict") {
  Report all = report();
  CHECK(has(to_html(all, {}, nullptr),
            "<title>stoka eval: 1 of 4 passed, 2 failed, 1 could not be run</title>"));
  all.cases.resize(1);
  CHECK(has(to_html(all, {}, nullptr), "<h1><span>All 1 passed</span></h1>"));
  all.cases.clear();
  CHECK(has(to_html(all, {}, nullptr), "<h1><span>0 of 0 passed</span></h1>"));
}

TEST_CASE("the report shows the worst cases first, and passing cases collapsed") {
  const std::string page = to_html(report(), {}, nullptr);
  const size_t gone = page.find("<h4><span>dataset/</span>gone</h4>");
  const size_t bad = page.find("<h4><span>dataset/</span>bad</h4>");
  const size_t half = page.find("<h4><span>dataset/</span>half</h4>");
  const size_t fine = page.find("<summary><h4>fine</h4>");
  REQUIRE(fine != std::string::npos);
  CHECK(gone < bad);
  CHECK(bad < half);
  CHECK(half < fine);
  CHECK(page.find("<details class=\"group\">") < fine);
}

TEST_CASE("a case shows the turns, the answer and the reasons of its failure") {
  const std::string page = to_html(report(), {}, nullptr);
  for (const std::string part :
       {"<li class=\"earlier\" dir=\"auto\">hm?</li>",
        "<li class=\"judged\" dir=\"auto\">what is this?</li>",
        "<li><strong>citation_hit</strong> cites b</li>", "could not be run: the generator",
        "<p class=\"said\" dir=\"auto\">a terminal.</p>", "Bounded Execution</figcaption>",
        "“Limits first.”</blockquote>", "blog · 8 min read · Apr 12", "ask for one thing",
        "on purpose", "<dt>route</dt><dd>new</dd>", "<dt>confidence</dt><dd>low</dd>",
        "<dt>best score</dt><dd>0.51</dd>", "<dt>trials</dt><dd>1 of 2 passed</dd>",
        "<dt>citation_hit</dt><dd>0.00</dd>"})
    CHECK_MESSAGE(has(page, part), part);
}

TEST_CASE("metrics are shown in tables") {
  const std::string page = to_html(report(), {}, nullptr);
  for (const std::string part :
       {"<th scope=\"col\" class=\"num\">ndcg@10</th>", "<td class=\"num best\">0.910</td>",
        "<td class=\"num\">0.850</td>", "0.05 ms", "12.3 ms", "<dt>embedder</dt><dd>builtin</dd>",
        "<th scope=\"row\">direct</th>", "90.0%", "<th scope=\"row\">dataset/vague</th>",
        "<th scope=\"row\">citation_hit</th>"})
    CHECK_MESSAGE(has(page, part), part);
  // The mean of the cases that could be run: 1, 1/2 and 0.
  CHECK(has(page, "<span>50.0%</span>"));
}

TEST_CASE("sections without content are left out of the report") {
  Report bare;
  bare.suite = "dataset";
  bare.cases = {result("dataset", "fine", 1)};
  bare.cases[0].category.clear();
  const std::string page = to_html(bare, {}, nullptr);
  for (const char* id : {"baseline", "stages", "confidence", "time", "scores", "categories"})
    CHECK_FALSE(has(page, "href=\"#" + std::string(id) + "\""));
  CHECK(has(page, "<section id=\"cases\""));
  CHECK(unbalanced(page).empty());
  CHECK(unbalanced(to_html(Report{}, {}, nullptr)).empty());
}

TEST_CASE("citations are shown at their place in the answer") {
  Report one = report();
  one.cases.resize(1);
  one.cases[0].answer = "before.\n\n[1]\n\nafter?";
  const std::string page = to_html(one, {}, nullptr);
  const size_t card = page.find("<figure class=\"cite\">");
  CHECK(page.find("before.") < card);
  CHECK(card < page.find("after?"));
  CHECK(!has(page, "[1]"));
  one.cases[0].answer = "[2] is text.";
  CHECK(has(to_html(one, {}, nullptr), "[2] is text."));
}

TEST_CASE("the comparison links to the cases") {
  Comparison comparison;
  CHECK(has(to_html(report(), {}, &comparison), "0 worse, 0 better"));
  CHECK(has(to_html(report(), {}, &comparison), "no regression"));
  comparison.not_run = 3;
  CHECK(!has(to_html(report(), {}, &comparison), "no regression"));
  CHECK(has(to_html(report(), {}, &comparison), "3 of the baseline could not be run"));
  comparison.not_run = 0;
  comparison.worse = {{"dataset/bad", 1, 0, "citation_hit: cites b", false},
                      {"dataset/lost", 1, 0, "was not run", true}};
  comparison.new_failures = {"dataset/half"};
  const std::string page = to_html(report(), {}, &comparison);
  CHECK(has(page, "<a href=\"#case-3\">dataset/bad</a>"));
  CHECK(has(page, "<article class=\"case failing\" id=\"case-3\">"));
  CHECK(has(page, "<span class=\"id\">dataset/lost</span>"));
  CHECK(has(page, "1.00 → 0.00"));
  CHECK(has(page, "2 worse than the baseline"));
  CHECK(unbalanced(page).empty());
}

TEST_CASE("each score over time is a chart with a description in words") {
  std::vector<Report> earlier(2, report());
  earlier[0].at = "2026-02-01T10:00:00Z";
  earlier[0].metrics["dataset.pass_rate"] = 0.25;
  earlier[1].at = "2026-03-01T10:00:00Z";
  earlier[1].metrics.clear();
  const std::string page = to_html(report(), earlier, nullptr);
  CHECK(has(page,
            "aria-label=\"dataset.pass_rate over 2 reports: 0.250 on 2026-02-01, 0.500 on "
            "2026-04-12; lowest 0.250, highest 0.500\""));
  CHECK(has(page, "aria-label=\"retrieval.policy.ndcg@10 over 2"));
  CHECK(has(page, "aria-label=\"retrieval.policy.hit@1 over 2"));
  CHECK_FALSE(has(page, "aria-label=\"retrieval.lexical"));
  CHECK(unbalanced(page).empty());
}

TEST_CASE("the HTML report has no scripts and no external resources") {
  const std::vector<Report> earlier(1, report());
  const Comparison comparison;
  const std::string page = to_html(report(), earlier, &comparison);
  CHECK(page.starts_with("<!doctype html>\n<html lang=\"en\">"));
  CHECK(has(page, "default-src 'none'"));
  CHECK(has(page, "prefers-color-scheme: dark"));
  for (const std::string part :
       {"<script", "<link", "<img", "<iframe", "src=", "url(", "@import", "http://", "https://"})
    CHECK_FALSE_MESSAGE(has(page, part), part);
  CHECK(unbalanced(page).empty());
}

TEST_CASE("the heading levels of the report are in order") {
  const std::vector<Report> earlier(1, report());
  char before = '0';
  char deepest = '0';
  for (const std::string& tag : tags(without_style(to_html(report(), earlier, nullptr)))) {
    if (!tag.starts_with("<h") || tag[2] < '1' || tag[2] > '6') continue;
    CHECK(tag[2] <= before + 1);
    before = tag[2];
    deepest = std::max(deepest, before);
  }
  CHECK(deepest == '5');
}

TEST_CASE("untrusted text does not change the structure of the page") {
  const std::string hostile =
      "</p></script><script>alert(1)</script><b x=\"' onload=x \xff\xfe\x01 --> ]]> &lt; {} {0}";
  const Report plain = report();
  Report bad = report();
  for (CaseResult& c : bad.cases) {
    for (std::string* text : {&c.id, &c.category, &c.query, &c.answer, &c.ideal, &c.note, &c.route,
                              &c.confidence, &c.before[0]})
      *text = hostile;
    if (!c.error.empty()) c.error = hostile;
    for (std::string& why : c.why) why = "x: " + hostile;
    c.citations = {{hostile, hostile, hostile, hostile, hostile, hostile, "javascript:x", 1}};
  }
  bad.parts["embedder"] = bad.suite = bad.at = hostile;
  bad.calibration[0].name = hostile;
  Comparison comparison;
  comparison.worse = {{"a", 1, 0, "b", false}};
  Comparison bad_comparison;
  bad_comparison.worse = {{hostile, 1, 0, hostile, false}};
  const std::vector<Report> earlier = {plain}, bad_earlier = {bad};

  const std::string page = to_html(bad, bad_earlier, &bad_comparison);
  CHECK(tags(without_style(page)) == tags(without_style(to_html(plain, earlier, &comparison))));
  CHECK_FALSE(has(page, "<script"));
  CHECK_FALSE(has(page, "javascript:"));
  CHECK(page.find('\xff') == std::string::npos);
}

}  // namespace html_test
