#include "eval/judge.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "built_in.h"

namespace judge_test {

using namespace stoka;
using namespace stoka::eval;
using stoka::testing::phrases;

namespace {

CitedDocuments cited() {
  Document document;
  document.slug = "essay";
  document.title = "An Essay";
  document.type = "philosophy";
  document.date = parse_date("2026-04-12");
  document.reading_minutes = 8;
  return {{"essay", {document, {"First chunk. A bound is a  limit.", "Second chunk."}}}};
}

Citation essay(const std::string& quote = "A bound is a limit.") {
  return {"essay",  "An Essay",    quote, "philosophy",    "8 min",
          "Apr 12", "/blog/essay", 0.9,   CiteKind::block, parse_date("2026-04-12")};
}

// An answer of parts that are either text or a citation.
Answer answer(std::vector<Answer::Part> parts, Route route = Route::fresh) {
  Answer out;
  out.query = "what is a bound";
  out.parts = std::move(parts);
  out.route = route;
  Hit hit;
  hit.chunk.slug = "essay";
  hit.chunk.content = "A bound is a limit. It holds.";
  out.ranked = {hit};
  return out;
}

Answer good() { return answer({{"read this.", {}}, {"", essay()}, {"do you agree?", {}}}); }

std::vector<std::string> failed(const Case& test_case, const Answer& got) {
  std::vector<std::string> out;
  for (const Score& score : judge(test_case, got, cited(), phrases())) {
    CHECK(score.why.empty() == score.ok);
    if (!score.ok) out.push_back(score.name);
  }
  return out;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("the date of a citation may include its year") {
  Citation with_year = essay();
  with_year.date = "Apr 12, 2026";
  CHECK(failed({}, answer({{"", with_year}})).empty());
}

TEST_CASE("a good answer passes every score") {
  Case test_case;
  test_case.route = Route::fresh;
  test_case.ideal_cite = {"other", "essay"};
  test_case.must_cite = true;
  test_case.must_not_cite = {"another"};
  test_case.must_end_with = "question";
  test_case.tone = "provocative";
  test_case.fail_if_summary = true;
  test_case.must_not_say = {"limits"};
  test_case.fail_if = {"greeting", "apology", "list", "repeat", "invented"};
  CHECK(failed(test_case, good()) == Names{});
  std::vector<std::string> names;
  for (const Score& score : judge(test_case, good(), cited(), phrases()))
    names.push_back(score.name);
  CHECK(names == Names{"citation_hit", "brevity", "no_greeting", "ends_provocative",
                       "no_exclamation", "no_summary", "route", "void", "must_cite",
                       "citation_in_5", "not_cited", "quote_verified", "no_repeat", "ends_with",
                       "tone", "not_said", "no_apology", "no_list", "no_invented"});
}

TEST_CASE("each unmet expectation fails only the score that checks it") {
  struct Row {
    const char* what;
    void (*ask)(Case&);
    Answer got;
    Names fails;
  };
  const auto text = [](const char* words, Route route = Route::fresh) {
    return answer({{words, {}}}, route);
  };
  Citation wrong_title = essay();
  wrong_title.title = "The Essay";
  Citation wrong_date = essay();
  wrong_date.date = "Apr 13";
  Citation wrong_year = essay();
  wrong_year.date = "Apr 12, 2025";
  Citation wrong_publication = essay();
  wrong_publication.published = parse_date("2025-04-12");
  Citation unknown = essay();
  unknown.slug = "no-such-page";
  Answer repeated = good();
  repeated.shown_before = {"essay"};
  const std::vector<Row> rows = {
      {"citation",
       [](Case& c) { c.ideal_cite = {"other"}; },
       good(),
       {"citation_hit", "citation_in_5"}},
      {"brevity", [](Case&) {}, text("one. two v2.1. three e.g. this. four?"), {"brevity"}},
      {"a smaller limit",
       [](Case& c) { c.max_sentences = 1; },
       answer({{"one. two.", {}}, {"", essay()}}),
       {"brevity"}},
      {"greeting",
       [](Case&) {},
       answer({{"hello. read this.", {}}, {"", essay()}}),
       {"no_greeting"}},
      {"nothing to go on with", [](Case&) {}, text("it is so."), {"ends_provocative"}},
      {"a canned reply need not provoke", [](Case&) {}, text("noted.", Route::meta), {}},
      {"exclamation", [](Case&) {}, text("what!  really?"), {"no_exclamation"}},
      {"summary",
       [](Case& c) { c.fail_if_summary = true; },
       text("a bound is a limit. it holds. it is the limit. that is all. why not?"),
       {"brevity", "no_summary"}},
      {"route", [](Case& c) { c.route = Route::followup; }, good(), {"route"}},
      {"void was expected", [](Case& c) { c.route = Route::nothing; }, good(), {"route", "void"}},
      {"void was not expected",
       [](Case& c) { c.route = Route::fresh; },
       text("nothing here on that. yet.", Route::nothing),
       {"route", "void"}},
      {"confidence", [](Case& c) { c.confidence = "low"; }, good(), {"confidence"}},
      {"no citation was expected", [](Case& c) { c.must_cite = false; }, good(), {"must_cite"}},
      {"a citation was expected", [](Case& c) { c.must_cite = true; }, text("why?"), {"must_cite"}},
      {"not this one", [](Case& c) { c.must_not_cite = {"essay"}; }, good(), {"not_cited"}},
      {"a quote that is not there",
       [](Case&) {},
       answer({{"", essay("A bound is a wall.")}}),
       {"quote_verified"}},
      {"no quote at all", [](Case&) {}, answer({{"", essay("")}}), {"quote_verified"}},
      {"a quote over two chunks",
       [](Case&) {},
       answer({{"", essay("limit. Second chunk.")}}),
       {"quote_verified"}},
      {"a title that is not the page's",
       [](Case&) {},
       answer({{"", wrong_title}}),
       {"quote_verified"}},
      {"a date that is not the page's",
       [](Case&) {},
       answer({{"", wrong_date}}),
       {"quote_verified"}},
      {"a year that is not the page's",
       [](Case&) {},
       answer({{"", wrong_year}}),
       {"quote_verified"}},
      {"a publication date that is not the page's",
       [](Case&) {},
       answer({{"", wrong_publication}}),
       {"quote_verified"}},
      {"a page that does not exist", [](Case&) {}, answer({{"", unknown}}), {"quote_verified"}},
      {"shown before", [](Case&) {}, repeated, {"no_repeat"}},
      {"not a question",
       [](Case& c) { c.must_end_with = "question"; },
       answer({{"why?", {}}, {"", essay()}}),
       {"ends_with"}},
      {"not a citation", [](Case& c) { c.must_end_with = "cite"; }, good(), {"ends_with"}},
      {"other words", [](Case& c) { c.must_end_with = "disagree?"; }, good(), {"ends_with"}},
      {"another reply", [](Case& c) { c.reply = "noted"; }, text("noted.", Route::meta), {"reply"}},
      {"tame",
       [](Case& c) { c.tone = "provocative"; },
       answer({{"", essay()}, {"so.", {}}}),
       {"tone"}},
      {"excited", [](Case& c) { c.tone = "flat"; }, text("wow, sooooo good. agree?"), {"tone"}},
      {"said",
       [](Case& c) {
         c.must_not_say = {"vue", "read this"};
       },
       good(),
       {"not_said"}},
      {"vue is not in revue", [](Case& c) { c.must_not_say = {"vue"}; }, text("a revue?"), {}},
      {"a predicate",
       [](Case& c) { c.fail_if = {"apology"}; },
       text("sorry, no. why?"),
       {"no_apology"}},
  };
  for (const Row& row : rows) {
    CAPTURE(std::string(row.what));
    Case test_case;
    row.ask(test_case);
    CHECK(failed(test_case, row.got) == row.fails);
  }
}

TEST_CASE("a terse answer may have at most forty tokens") {
  Case test_case;
  test_case.tone = "terse";
  std::string words = "why";
  CHECK(failed(test_case, answer({{words + "?", {}}})).empty());
  for (int i = 0; i < 60; ++i) words += " and why";
  CHECK(failed(test_case, answer({{words + "?", {}}})) == Names{"tone"});
}

}  // namespace judge_test
