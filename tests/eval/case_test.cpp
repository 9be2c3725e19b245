#include "eval/case.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "base/files.h"
#include "pipeline/catalog.h"

namespace case_test {

using namespace stoka;
using namespace stoka::eval;

namespace {

Result<Cases> read(std::string_view text, std::string_view suite = "") {
  Cases out;
  if (auto done = read_cases(text, "evals/my.jsonl", suite, out); !done) return fail(done.error());
  return out;
}

// A case with these JSON fields.
std::string line(const std::string& fields) { return R"({"query":"why",)" + fields + "}"; }

struct Refusal {
  std::string text;
  std::string message;
};

void check_refused(const Refusal& refusal) {
  CAPTURE(refusal.message);
  const auto cases = read(refusal.text);
  REQUIRE(!cases);
  CHECK(cases.error().message == refusal.message);
  CHECK(cases.error().kind == ErrorKind::data);
  CHECK(!cases.error().hint.empty());
}

Result<> check_line(const std::string& line) {
  store::DocumentInfo boats;
  boats.document.slug = "wooden-boats";
  Cases cases;
  REQUIRE(read_cases(line, "my.jsonl", "", cases));
  return check_slugs(cases, pipeline::Catalog({boats}, 1));
}

}  // namespace

TEST_CASE("every field of a case is read") {
  const auto cases = read(
      R"({"id":"a-1","category":"vague","query":"And why?","before":["one","two"],)"
      R"("context":"/blog/x","seen":["s1"],"interests":["i1","i2"],"route":"followup","confidence":"low",)"
      R"("ideal_cite":["c1","c2"],"must_cite":true,"must_not_cite":["c3"],"max_sentences":2,)"
      R"("must_end_with":"question","reply":"All of it.","fail_if_summary":true,"tone":"flat",)"
      R"("fail_if":["greeting","exclamation"],"must_say":["a",["b","c"]],"must_not_say":["well done"],"never":[1,15],)"
      R"("model":"","ideal":"An answer.","note":"A note."})");
  REQUIRE(cases);
  REQUIRE(cases->cases.size() == 1);
  using Texts = std::vector<std::string>;
  const Case& one = cases->cases[0];
  CHECK(one.suite == "dataset");
  CHECK(one.confidence == "low");
  CHECK(one.id == "a-1");
  CHECK(one.category == "vague");
  CHECK(one.query == "And why?");
  CHECK(one.before == Texts{"one", "two"});
  CHECK(one.page.page == "/blog/x");
  CHECK(one.page.seen_slugs == Texts{"s1"});
  CHECK(one.interests == Texts{"i1", "i2"});
  CHECK(one.route == Route::followup);
  CHECK(one.ideal_cite == Texts{"c1", "c2"});
  CHECK(one.must_cite == true);
  CHECK(one.must_not_cite == Texts{"c3"});
  CHECK(one.max_sentences == 2);
  CHECK(one.must_end_with == "question");
  CHECK(one.reply == "All of it.");
  CHECK(one.fail_if_summary);
  CHECK(one.tone == "flat");
  CHECK(one.fail_if == Texts{"greeting", "exclamation"});
  CHECK(one.must_not_say == Texts{"well done"});
  CHECK(one.never == std::vector<int>{1, 15});
  CHECK(one.model == "");
  CHECK(one.must_say == std::vector<Texts>{{"a"}, {"b", "c"}});
  CHECK(one.ideal == "An answer.");
  CHECK(one.note == "A note.");
  CHECK(cases->places.at("dataset/a-1") == "evals/my.jsonl:1");
}

TEST_CASE("absent fields keep their defaults and expect nothing") {
  const auto cases = read(R"({"query":"why"})");
  REQUIRE(cases);
  const Case& one = cases->cases.at(0);
  CHECK(one.id == "my-1");
  CHECK(one.suite == "dataset");
  CHECK(!one.route);
  CHECK(!one.must_cite);
  CHECK(!one.model);
  CHECK(one.max_sentences == 3);
  CHECK(one.page.page.empty());
  CHECK(!one.fail_if_summary);
}

TEST_CASE("a list field accepts a single value") {
  const auto cases = read(line(R"("ideal_cite":"c1","before":"one","never":7)"));
  REQUIRE(cases);
  CHECK(cases->cases[0].ideal_cite == std::vector<std::string>{"c1"});
  CHECK(cases->cases[0].before == std::vector<std::string>{"one"});
  CHECK(cases->cases[0].never == std::vector<int>{7});
}

TEST_CASE("a context is read as the path of a page") {
  const std::pair<const char*, const char*> pages[] = {
      {"landing_page", "/"}, {"blog_index", "/blog"}, {"any", ""}, {"/books/x", "/books/x"}};
  for (const auto& [context, page] : pages) {
    const auto cases = read(line(R"("context":")" + std::string(context) + "\""));
    REQUIRE(cases);
    CHECK(cases->cases[0].page.page == page);
  }
}

TEST_CASE("routes are read by their names") {
  const std::pair<const char*, Route> routes[] = {{"meta", Route::meta},
                                                  {"offtopic", Route::offtopic},
                                                  {"new", Route::fresh},
                                                  {"void", Route::nothing}};
  for (const auto& [name, route] : routes) {
    const auto cases = read(line(R"("route":")" + std::string(name) + "\""));
    REQUIRE(cases);
    CHECK(cases->cases[0].route == route);
  }
}

TEST_CASE("a line with relevant slugs is read as a query") {
  const auto cases = read(R"({"id":"q","query":"why","relevant":{"a":3,"b":0.5},"note":"n"})"
                          "\n"
                          R"({"query":"none","relevant":{}})"
                          "\n"
                          R"({"id":"q","query":"a case"})",
                          "mine");
  REQUIRE(cases);
  REQUIRE(cases->queries.size() == 2);
  CHECK(cases->queries[0].id == "q");
  CHECK(cases->queries[0].text == "why");
  CHECK(cases->queries[0].relevant == decltype(Query::relevant){{"a", 3}, {"b", .5}});
  CHECK(cases->queries[0].note == "n");
  CHECK(cases->queries[1].id == "my-2");
  CHECK(cases->queries[1].relevant.empty());
  REQUIRE(cases->cases.size() == 1);
  CHECK(cases->cases[0].suite == "mine");
}

TEST_CASE("CRLF, blank lines and a byte order mark are accepted") {
  const auto cases = read(
      "\xEF\xBB\xBF{\"query\":\"a\"}\r\n\r\n  {\"query\":\"b\"}  \n\n\n{\"query\":\"\xC3\xBC\"}");
  REQUIRE(cases);
  REQUIRE(cases->cases.size() == 3);
  CHECK(cases->cases[1].id == "my-3");
  CHECK(cases->cases[2].id == "my-6");
  for (const char* empty : {"", "\n", "\r\n \n", "\xEF\xBB\xBF"}) CHECK(read(empty)->cases.empty());
}

TEST_CASE("a line that is not a JSON object with a query gives a data error") {
  const std::string good = R"({"query":"a"})";
  const Refusal refusals[] = {
      {"// a comment", "evals/my.jsonl:1: not JSON: the error is at byte 1"},
      {good + "\n\n{\"query\":\"a\",}", "evals/my.jsonl:3: not JSON: the error is at byte 14"},
      {"[", "evals/my.jsonl:1: not JSON: the error is at byte 2"},
      {good + good, "evals/my.jsonl:1: not JSON: the error is at byte 14"},
      {"{\"query\":\"\xFF\"}", "evals/my.jsonl:1: not JSON: the error is at byte 11"},
      {"{\"query\":\"\\ud800\"}", "evals/my.jsonl:1: not JSON: the error is at byte 17"},
      {good + std::string("\0x", 2), "evals/my.jsonl:1: not JSON: it has a NUL byte"},
      {R"({"query":"a","max_sentences":1e999})",
       "evals/my.jsonl:1: not JSON: a number is too large"},
      {"[" + good + "]", "evals/my.jsonl:1: not a JSON object"},
      {"7", "evals/my.jsonl:1: not a JSON object"},
      {"null", "evals/my.jsonl:1: not a JSON object"},
      {"{\"query\":\"" + std::string(1 << 20, 'a') + "\"}",
       "evals/my.jsonl:1: the line has more than 1 MB"},
      {"{}", "evals/my.jsonl:1: the field 'query' is missing"},
      {R"({"relevant":{}})", "evals/my.jsonl:1: the field 'query' is missing"},
      {R"({"query":"a","query":"b"})", "evals/my.jsonl:1: the field 'query' occurs twice"},
      {R"({"query":"a","relevant":{"s":1,"s":2}})", "evals/my.jsonl:1: the field 's' occurs twice"},
      {std::string(500000, '['), "evals/my.jsonl:1: not JSON: the error is at byte 500001"},
      {std::string(500000, '[') + std::string(500000, ']'),
       "evals/my.jsonl:1: nested more than 4 levels"},
  };
  for (const Refusal& refusal : refusals) check_refused(refusal);
}

TEST_CASE("an unknown field gives an error that suggests the nearest field") {
  const Refusal refusals[] = {
      {line(R"("must_site":true)"),
       "evals/my.jsonl:1: unknown field 'must_site', did you mean 'must_cite'?"},
      {R"({"querry":"a"})", "evals/my.jsonl:1: unknown field 'querry', did you mean 'query'?"},
      {line(R"("zzzzzzzz":1)"), "evals/my.jsonl:1: unknown field 'zzzzzzzz'"},
      {line(R"("\u001b[2J\nx":1)"), "evals/my.jsonl:1: unknown field ' [2J x'"},
      {line("\"" + std::string(500, 'x') + "\":1"),
       "evals/my.jsonl:1: unknown field '" + std::string(60, 'x') + "'"},
      {line(R"("relevant":{},"never":[1])"), "evals/my.jsonl:1: unknown field 'never'"},
      {line(R"("":1)"), "evals/my.jsonl:1: unknown field ''"},
  };
  for (const Refusal& refusal : refusals) check_refused(refusal);
}

TEST_CASE("a wrong value gives an error that says what the value must be") {
  const char* texts = " must be a text or a list of texts, none of them empty";
  const char* word = " must be a text without spaces, of at most 200 bytes";
  const char* never = "'never' must be numbers of the NEVER list, 1 to 15";
  const char* gains =
      "'relevant' must be an object of slugs with their gains, numbers above 0 and at most 1000";
  const Refusal refusals[] = {
      {R"("id":7)", std::string("'id'") + word},
      {R"("id":"")", std::string("'id'") + word},
      {R"("id":"a b")", std::string("'id'") + word},
      {R"("id":"a\u0007")", std::string("'id'") + word},
      {"\"id\":\"" + std::string(201, 'a') + "\"", std::string("'id'") + word},
      {R"("category":"two words")", std::string("'category'") + word},
      {R"("before":[""])", std::string("'before'") + texts},
      {R"("before":["\u200b"])",
       "'before' must be what a visitor may ask: the question has nothing visible in it"},
      {R"("context":"index")",
       "'context' must be landing_page, blog_index, any or a path that begins with /"},
      {R"("context":"landing-page")",
       "'context' must be landing_page, blog_index, any or a path that begins with /, did you "
       "mean 'landing_page'?"},
      {R"("context":null)",
       "'context' must be landing_page, blog_index, any or a path that begins with /"},
      {R"("seen":{})", std::string("'seen'") + texts},
      {R"("interests":[["a"]])", std::string("'interests'") + texts},
      {R"("route":"folowup")",
       "'route' must be one of meta, offtopic, followup, new, void, did you mean 'followup'?"},
      {R"("route":2)", "'route' must be one of meta, offtopic, followup, new, void"},
      {R"("ideal_cite":"")", std::string("'ideal_cite'") + texts},
      {R"("must_cite":"yes")", "'must_cite' must be true or false"},
      {R"("must_not_cite":[1])", std::string("'must_not_cite'") + texts},
      {R"("max_sentences":-1)", "'max_sentences' must be a whole number, 0 or more"},
      {R"("max_sentences":2.5)", "'max_sentences' must be a whole number, 0 or more"},
      {R"("must_end_with":" ")", "'must_end_with' must be a text that is not empty"},
      {R"("reply":"")", "'reply' must be a text that is not empty"},
      {R"("fail_if_summary":1)", "'fail_if_summary' must be true or false"},
      {R"("tone":"flatt")", "'tone' must be one of provocative, flat, terse, did you mean 'flat'?"},
      {R"("tone":[])", "'tone' must be one of provocative, flat, terse"},
      {R"("must_say":[["a",1]])",
       "'must_say' must be a text or a list of texts and lists of alternatives, none of them "
       "empty"},
      {R"("must_not_say":true)", std::string("'must_not_say'") + texts},
      {R"("never":[0])", never},
      {R"("never":[16])", never},
      {R"("never":["1"])", never},
      {R"("never":[1.0])", never},
      {R"("model":null)", "'model' must be a text"},
      {R"("ideal":7)", "'ideal' must be a text"},
      {R"("note":[])", "'note' must be a text"},
      {R"("relevant":["a"])", gains},
      {R"("relevant":{"a":0})", gains},
      {R"("relevant":{"a":-1})", gains},
      {R"("relevant":{"a":"3"})", gains},
      {R"("relevant":{"":3})", gains},
  };
  for (const auto& [fields, message] : refusals)
    check_refused({line(fields), "evals/my.jsonl:1: " + message});

  const char* empty = "evals/my.jsonl:1: 'query' must be what a visitor may ask: ";
  check_refused({R"({"query":7})", "evals/my.jsonl:1: 'query' must be a text"});
  check_refused({R"({"query":""})", std::string(empty) + "the question is empty"});
  check_refused(
      {R"({"query":" \n "})", std::string(empty) + "the question has nothing visible in it"});
  check_refused({"{\"query\":\"" + std::string(2001, 'a') + "\"}",
                 std::string(empty) + "the question has 2001 characters, at most 2000 are read"});
  CHECK(read("{\"query\":\"" + std::string(2000, 'a') + "\"}"));
}

TEST_CASE("an unknown predicate gives an error that lists the known ones") {
  const auto cases = read(line(R"("fail_if":["greeting","exclamations"])"));
  REQUIRE(!cases);
  const std::string& message = cases.error().message;
  CHECK(message.starts_with("evals/my.jsonl:1: 'fail_if' must be one of greeting, "));
  CHECK(message.ends_with(", did you mean 'exclamation'?"));
}

TEST_CASE("a case with contradictory expectations gives an error") {
  const char* canned = " has a fixed reply without citations, but a citation is expected";
  const Refusal refusals[] = {
      {R"("route":"void","ideal_cite":"a")", std::string("route 'void'") + canned},
      {R"("route":"meta","must_cite":true)", std::string("route 'meta'") + canned},
      {R"("route":"offtopic","must_end_with":"cite")", std::string("route 'offtopic'") + canned},
      {R"("must_cite":false,"ideal_cite":"a")",
       "must_cite is false, but ideal_cite expects a citation"},
      {R"("must_cite":false,"must_end_with":"cite")",
       "must_cite is false, but must_end_with expects a citation"},
      {R"("ideal_cite":["a","b"],"must_not_cite":["b"])",
       "'b' is both in ideal_cite and in must_not_cite"},
      {R"("route":"followup")", "route 'followup' is expected, but there is no earlier turn"},
  };
  for (const auto& [fields, message] : refusals)
    check_refused({line(fields), "evals/my.jsonl:1: " + message});

  for (const char* fields :
       {R"("route":"void","must_cite":false)", R"("route":"meta","reply":"x","model":"y")",
        R"("route":"new","must_cite":true,"ideal_cite":"a","must_not_cite":"b")",
        R"("must_cite":true,"must_end_with":"cite","reply":"x","model":"y")",
        R"("must_cite":false,"must_end_with":"question")"})
    CHECK(read(line(fields)));
}

TEST_CASE("an id must be unique in its suite over all files") {
  check_refused({R"({"id":"a","query":"x"})"
                 "\n\n"
                 R"({"id":"a","query":"y"})",
                 "evals/my.jsonl:3: the id 'dataset/a' is already used at evals/my.jsonl:1"});
  check_refused({R"({"id":"my-2","query":"x"})"
                 "\n"
                 R"({"query":"y"})",
                 "evals/my.jsonl:2: the id 'dataset/my-2' is already used at evals/my.jsonl:1"});
  Cases cases;
  REQUIRE(read_cases(R"({"id":"a","query":"x"})", "one.jsonl", "", cases));
  REQUIRE(read_cases(R"({"id":"a","query":"x"})", "at/constraints.jsonl", "", cases));
  REQUIRE(read_cases(R"({"id":"a","query":"x","relevant":{}})", "two.jsonl", "", cases));
  const auto again = read_cases(R"({"id":"a","query":"x"})", "two.jsonl", "", cases);
  REQUIRE(!again);
  CHECK(again.error().message == "two.jsonl:1: the id 'dataset/a' is already used at one.jsonl:1");
  CHECK(cases.cases.size() == 2);
  CHECK(cases.queries.size() == 1);
}

TEST_CASE(
    "the hash covers the question and the expectations, but not id, category, ideal and note") {
  const auto hash = [](const char* text) { return read(text)->cases[0].hash; };
  const std::string one = hash(R"({"id":"a","query":"x","must_cite":true})");
  CHECK(one.size() == 12);
  CHECK(hash(R"({"must_cite":true, "query":"x", "id":"b", "note":"n", "category":"c"})") == one);
  CHECK(hash(R"({"id":"a","query":"x","must_cite":false})") != one);
  CHECK(hash(R"({"id":"a","query":"y","must_cite":true})") != one);
  const auto query = read(R"({"id":"a","query":"x","relevant":{"s":1}})");
  const auto other = read(R"({"id":"a","query":"x","relevant":{"s":2}})");
  CHECK(query->queries[0].hash != other->queries[0].hash);
}

TEST_CASE("the depth of nested JSON is limited") {
  std::string deep = R"({"query":"x","before":)";
  for (int i = 0; i < 300000; ++i) deep += '[';
  for (int i = 0; i < 300000; ++i) deep += ']';
  check_refused({deep + "}", "evals/my.jsonl:1: nested more than 4 levels"});
  check_refused(
      {R"({"query":"x","before":[["y"]]})",
       "evals/my.jsonl:1: 'before' must be a text or a list of texts, none of them empty"});
}

TEST_CASE("error messages do not contain the question") {
  for (const char* text :
       {R"({"query":"secret" x})", R"({"query":["secret"]})",
        R"({"query":"secret","query":"secret"})", R"({"query":"secret","route":"secret"})"}) {
    const auto cases = read(text);
    REQUIRE(!cases);
    CHECK(cases.error().message.find("secret") == std::string::npos);
    CHECK(cases.error().hint.find("secret") == std::string::npos);
  }
}

TEST_CASE("arbitrary bytes are read, or refused with a one-line message") {
  const std::string pieces[] = {"{",
                                "}",
                                "[",
                                "]",
                                ":",
                                ",",
                                "\"",
                                "\\u",
                                "\n",
                                "\r\n",
                                "\"query\"",
                                "\"why\"",
                                "1e99",
                                "-1",
                                "null",
                                "true",
                                "\xFF",
                                "\"id\"",
                                "\"relevant\"",
                                "\"never\"",
                                std::string(1, '\0')};
  unsigned state = 7;
  size_t refused = 0;
  for (int round = 0; round < 5000; ++round) {
    std::string text = round % 2 == 0 ? "{\"query\":\"a\"," : "";
    for (int i = 0; i < 12; ++i) {
      state = state * 1664525U + 1013904223U;
      text += pieces[(state >> 16) % std::size(pieces)];
    }
    const auto cases = read(text);
    if (cases) continue;
    ++refused;
    CHECK(cases.error().message.find('\n') == std::string::npos);
    CHECK(cases.error().message.starts_with("evals/my.jsonl:"));
  }
  CHECK(refused > 4000);
}

TEST_CASE("field names are unique") {
  for (auto fields : {case_fields(), conversation_fields(), query_fields()}) {
    CHECK(std::count(fields.begin(), fields.end(), "id") == 1);
    std::sort(fields.begin(), fields.end());
    CHECK(std::adjacent_find(fields.begin(), fields.end()) == fields.end());
  }
}

TEST_CASE("the built-in cases can be read") {
  Cases cases;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(STOKA_SOURCE_DIR) / "evals")) {
    if (entry.path().extension() != ".jsonl") continue;
    const auto text = read_file(entry.path(), 16 << 20);
    REQUIRE(text);
    const auto done = read_cases(*text, entry.path().filename().string(), "", cases);
    if (!done) FAIL_CHECK(done.error().message);
  }
  CHECK(cases.cases.size() + cases.queries.size() > 0);
}

TEST_CASE("check_slugs accepts pages that are in the index") {
  CHECK(check_line(R"({"query":"x","ideal_cite":"wooden-boats","seen":["wooden-boats"]})"));
  CHECK(check_line(R"({"query":"x","relevant":{"wooden-boats":3}})"));
  CHECK(check_line(R"({"query":"x"})"));
  // A scripted model may cite an invented slug, which the case forbids.
  CHECK(check_line(R"({"query":"x","model":"<cite slug='made-up'/>","must_not_cite":"made-up"})"));
}

TEST_CASE("check_slugs reports an unknown slug with its place and the nearest slug") {
  for (const char* line : {R"({"query":"x","ideal_cite":"wooden-boat"})",
                           R"({"query":"x","must_not_cite":"wooden-boat"})",
                           R"({"query":"x","seen":["wooden-boats","wooden-boat"]})",
                           R"({"query":"x","relevant":{"wooden-boat":1}})"}) {
    CAPTURE(std::string(line));
    const auto checked = check_line(line);
    REQUIRE(!checked);
    CHECK(checked.error().kind == ErrorKind::data);
    CHECK(checked.error().message.starts_with("my.jsonl:1: "));
    CHECK(checked.error().message.ends_with(
        "'wooden-boat' is not a page of the index, did you mean 'wooden-boats'?"));
  }
}

}  // namespace case_test
