// Conversations from their line in a file to the report.
#include "eval/conversation.h"

#include <doctest/doctest.h>

#include <atomic>
#include <map>
#include <set>

#include "built_in.h"
#include "eval/compare.h"
#include "eval/judge.h"
#include "eval/run_cases.h"
#include "pipeline/catalog.h"
#include "support/site_fixture.h"

namespace conversation_test {

using namespace stoka;
using namespace stoka::testing;
using namespace stoka::eval;

namespace {

using Texts = std::vector<std::string>;

Result<Cases> read(std::string_view text) {
  Cases out;
  if (auto done = read_cases(text, "my.jsonl", "", out); !done) return fail(done.error());
  return out;
}

std::string refusal(std::string_view text) {
  const auto cases = read(text);
  return cases ? "accepted" : cases.error().message;
}

CaseRun run(SiteFixture& site, std::string_view lines, size_t repeat = 1, size_t jobs = 1) {
  const auto subject = SystemUnderTest::make(site.engine(), {}).value();
  const Cases cases = read(lines).value();
  return run_cases(*subject, cases.cases, phrases(), {repeat, jobs, {}}, {}).value();
}

// Generates one answer, then fails like an unavailable server.
struct OneAnswer final : generate::Generator {
  std::atomic<int> asked = 0;
  std::string name() const override { return "one answer"; }
  bool reads_prompt() const override { return true; }
  Result<std::unique_ptr<generate::GenerationStream>> begin(
      const generate::GenerationRequest& request, std::stop_token) override {
    if (asked++ > 0) return fail(ErrorKind::unavailable, "nobody answers");
    return generate::known_answer(
        {"read it. <cite slug=\"" + request.hits.front().chunk.slug + "\" quote=\"\"/>"});
  }
};

Citation cite(std::string slug, std::string quote = "A bound is a limit.") {
  Citation out;
  out.slug = std::move(slug);
  out.title = "An Essay";
  out.quote = std::move(quote);
  return out;
}

Answer answer(std::vector<Answer::Part> parts, Route route = Route::fresh) {
  Answer out;
  out.query = "what is a bound";
  out.parts = std::move(parts);
  out.route = route;
  return out;
}

Case turn() {
  Case out;
  out.suite = "conversations";
  out.conversation = "talk";
  return out;
}

// Whether the score is ok; nullopt if it does not apply.
std::optional<bool> score(const std::string& name, const Case& one, const Answer& got) {
  for (const Score& score : judge(one, got, {}, phrases()))
    if (score.name == name) return score.ok;
  return std::nullopt;
}

CaseResult result(std::string id, std::string kind, bool passes) {
  CaseResult out;
  out.suite = "conversations";
  out.id = std::move(id);
  out.category = std::move(kind);
  out.query = "more";
  out.before = {"what is this?"};
  out.trials = 1;
  out.passes = passes ? 1 : 0;
  if (!passes) out.why = {"first_citation: first cites b, wanted a"};
  return out;
}

Report report() {
  Report out;
  out.suite = "conversations";
  out.cases = {result("one#1", "continue", true), result("one#2", "continue", false),
               result("two#1", "again", true), result("two#2", "again", true)};
  out.metrics = {{"conversations.pass_rate", 0.75},
                 {"conversations.category.continue", 0.5},
                 {"conversations.category.again", 1},
                 {"conversations.first_citation", 0.75}};
  return out;
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

}  // namespace

TEST_CASE("every turn of a conversation is a case after the turns before it") {
  const auto cases = read(
      R"({"id":"talk","kind":"continue","context":"/blog/x","seen":["s"],"interests":["i"],"turns":[)"
      R"({"query":"one","ideal_cite":"a"},{"query":"more","must_say":["x",["y","z"]]},{"query":"why"}]})"
      "\n"
      R"({"query":"a case"})");
  REQUIRE(cases);
  REQUIRE(cases->cases.size() == 4);
  const Case& second = cases->cases[1];
  CHECK(second.suite == "conversations");
  CHECK(second.id == "talk#2");
  CHECK(second.conversation == "talk");
  CHECK(second.category == "continue");
  CHECK(second.before == Texts{"one"});
  CHECK(second.page.page == "/blog/x");
  CHECK(second.page.seen_slugs == Texts{"s"});
  CHECK(second.interests == Texts{"i"});
  CHECK(second.must_say == std::vector<Texts>{{"x"}, {"y", "z"}});
  CHECK(second.ideal_cite.empty());
  CHECK(cases->cases[0].ideal_cite == Texts{"a"});
  CHECK(cases->cases[2].before == Texts{"one", "more"});
  CHECK(cases->places.at("conversations/talk#3") == "my.jsonl:1 turn 3");
  CHECK(cases->cases[3].suite == "dataset");
  CHECK(cases->cases[3].conversation.empty());
}

TEST_CASE("a mistake in a conversation names its turn") {
  const std::pair<const char*, const char*> refusals[] = {
      {R"({"turns":[]})", "my.jsonl:1: 'turns' must be a list of 1 to 100 objects"},
      {R"({"turns":["a"]})", "my.jsonl:1: 'turns' must be a list of 1 to 100 objects"},
      {R"({"turns":{"query":"a"}})", "my.jsonl:1: 'turns' must be a list of 1 to 100 objects"},
      {R"({"query":"a","turns":[{"query":"a"}]})", "my.jsonl:1: unknown field 'query'"},
      {R"({"turns":[{"query":"a"},{"qery":"b"}]})",
       "my.jsonl:1 turn 2: unknown field 'qery', did you mean 'query'?"},
      {R"({"turns":[{"must_cite":true}]})", "my.jsonl:1 turn 1: the field 'query' is missing"},
      {R"({"turns":[{"query":"a","query":"b"}]})", "my.jsonl:1: the field 'query' occurs twice"},
      {R"({"turns":[{"query":"a","before":"b"}]})", "my.jsonl:1 turn 1: unknown field 'before'"},
      {R"({"turns":[{"query":"a","must_say":[]},{"query":"b","must_say":[[]]}]})",
       "my.jsonl:1 turn 2: 'must_say' must be a text or a list of texts and lists of alternatives, "
       "none of them empty"},
      {R"({"turns":[{"query":"a","route":"followup"}]})",
       "my.jsonl:1 turn 1: route 'followup' is expected, but there is no earlier turn"},
      {"{\"id\":\"t\",\"turns\":[{\"query\":\"a\"}]}\n{\"id\":\"t\",\"turns\":[{\"query\":\"a\"}]}",
       "my.jsonl:2 turn 1: the id 'conversations/t#1' is already used at my.jsonl:1 turn 1"},
  };
  for (const auto& [line, message] : refusals) {
    CAPTURE(std::string(line));
    CHECK(has(refusal(line), message));
  }
}

TEST_CASE("the hash of a turn covers its expectations and what the conversation has in common") {
  const auto hash = [](const char* text) { return read(text)->cases[0].hash; };
  const std::string one = hash(R"({"id":"a","turns":[{"query":"x"}]})");
  CHECK(hash(R"({"id":"b","kind":"k","note":"n","turns":[{"query":"x","note":"m"}]})") == one);
  CHECK(hash(R"({"id":"a","turns":[{"query":"x","must_cite":true}]})") != one);
  CHECK(hash(R"({"id":"a","context":"/blog","turns":[{"query":"x"}]})") != one);
}

TEST_CASE("check_slugs names the turn with an unknown page") {
  store::DocumentInfo boats;
  boats.document.slug = "boats";
  const auto checked = check_slugs(
      read(
          R"({"turns":[{"query":"x","ideal_cite":"boats"},{"query":"y","ideal_cite":["boats","boots"]}]})")
          .value(),
      pipeline::Catalog({boats}, 1));
  REQUIRE(!checked);
  CHECK(has(checked.error().message, "my.jsonl:1 turn 2: ideal_cite 'boots' is not a page"));
}

TEST_CASE("lines of the voice are its sentences, but not fixed replies and not the answer") {
  const auto lines = [](const Answer& got, std::vector<std::vector<std::string>> must_say = {}) {
    Case one = turn();
    one.must_say = std::move(must_say);
    return voice_lines(got, one, phrases());
  };
  const Answer two =
      answer({{"further in, Then. one", {}}, {"", cite("a")}, {"still the same question?", {}}});
  CHECK(lines(two) == Texts{"further in then", "still the same question"});
  CHECK(lines(answer({{"further in, then.", {}}}, Route::meta)).empty());
  CHECK(
      lines(answer({{"closest thing i have is this. might not be what you meant.", {}}})).empty());
  CHECK(lines(answer({{"Ilse Marhold.", {}}})).empty());
  CHECK(lines(answer({{"it was Ilse Marhold who did.", {}}}), {{"Ilse Marhold"}}).empty());
  CHECK(lines(answer({{"it was Ilse Marhold who did.", {}}})).size() == 1);
}

TEST_CASE("a repeated line or quote fails the turn") {
  ConversationMemory memory;
  memory.add(answer({{"further in, then.", {}}, {"", cite("a")}}), turn(), phrases());
  const auto judged = [&](const char* name, std::vector<Answer::Part> parts) {
    Answer got = answer(std::move(parts));
    got.lines_before = memory.lines;
    got.quotes_before = memory.quotes;
    return score(name, turn(), got);
  };
  CHECK(judged("no_repeated_line", {{"Further in then!", {}}}) == false);
  CHECK(judged("no_repeated_line", {{"same thread, one knot on.", {}}}) == true);
  CHECK(judged("no_repeated_quote", {{"", cite("a")}}) == false);
  CHECK(judged("no_repeated_quote", {{"", cite("b")}}) == true);
  CHECK(judged("no_repeated_quote", {{"", cite("a", "Another one.")}}) == true);
  CHECK(judged("no_repeated_quote", {{"above.", {}}, {"", cite("a")}}) == true);
  CHECK(!judged("no_repeated_quote", {{"no citation.", {}}}));
}

TEST_CASE("the first citation of a turn must be wanted, a further one may stand beside it") {
  Case one = turn();
  one.ideal_cite = {"a", "b"};
  CHECK(score("first_citation", one, answer({{"", cite("b")}, {"", cite("c")}})) == true);
  CHECK(score("first_citation", one, answer({{"", cite("c")}, {"", cite("b")}})) == false);
  CHECK(score("citation_hit", one, answer({{"", cite("c")}, {"", cite("b")}})) == true);
  CHECK(!score("first_citation", one, answer({{"nothing.", {}}})));
  CHECK(score("citation_hit", one, answer({{"nothing.", {}}})) == false);
}

TEST_CASE("what must be said is looked for in the text and in the titles of citations") {
  const auto said = [](const Answer& got, std::vector<std::vector<std::string>> must_say) {
    Case one;
    one.must_say = std::move(must_say);
    return score("said", one, got);
  };
  const Answer got = answer({{"it was Ilse Marhold. /blog/x", {}}, {"", cite("a")}});
  CHECK(said(got, {{"ilse marhold"}}) == true);
  CHECK(said(got, {{"Tomas Brek", "Ilse Marhold"}}) == true);
  CHECK(said(got, {{"Ilse Marhold"}, {"Tomas Brek"}}) == false);
  CHECK(said(got, {{"/blog/"}}) == true);
  CHECK(said(got, {{"An Essay"}}) == true);
  CHECK(said(got, {{"limit"}}) == false);  // only in the quote
  CHECK(!said(got, {}));
}

TEST_CASE("scores of single answers do not apply to a turn of a conversation") {
  Case one = turn();
  one.ideal_cite = {"a"};
  Answer got = answer({{"tomas brek.", {}}, {"", cite("a")}});
  got.shown_before = {"a"};
  for (const char* name : {"ends_provocative", "citation_in_5", "no_repeat"}) {
    CHECK(!score(name, one, got));
    Case single = one;
    single.conversation.clear();
    CHECK(score(name, single, got));
  }
  CHECK(!score("no_repeated_line", Case{}, got));
}

TEST_CASE("the turns of a conversation share a session, and each is judged") {
  SiteFixture site;
  const CaseRun ran = run(
      site,
      R"({"id":"talk","kind":"k","turns":[{"query":"tell me about bounded execution","ideal_cite":"philosophy-bounded-execution"},{"query":"tell me about bounded execution","must_say":"a text that nobody says"},{"query":"do you use sqlite in production?","ideal_cite":"sqlite-in-production"}]})"
      "\n"
      R"({"id":"other","turns":[{"query":"tell me about bounded execution"}]})");
  REQUIRE(ran.results.size() == 4);
  CHECK(ran.results[0].passed());
  CHECK(!ran.results[1].passed());
  CHECK(ran.results[1].scores.at("said") == 0);
  CHECK(ran.results[1].before == Texts{"tell me about bounded execution"});
  CHECK(ran.results[2].scores.at("first_citation") == 1);
  CHECK(ran.results[1].answer != ran.results[0].answer);
  CHECK(ran.results[3].before.empty());
  CHECK(ran.results[3].passed());
}

TEST_CASE("conversations do not depend on the run or on the number of jobs") {
  SiteFixture site;
  std::string lines;
  for (int i = 0; i < 12; ++i)
    lines += R"({"id":"t)" + std::to_string(i) +
             R"(","turns":[{"query":"do you use sqlite in production?"},{"query":"more"},)"
             R"({"query":"why?"}]})"
             "\n";
  const auto shown = [](const CaseRun& ran) {
    Report out;
    out.cases = ran.results;
    return to_json(out);
  };
  const std::string once = shown(run(site, lines));
  CHECK(shown(run(site, lines)) == once);
  CHECK(shown(run(site, lines, 1, 8)) == once);
}

TEST_CASE("after a turn that could not be run the rest of its conversation is not judged") {
  SiteFixture site;
  site.generator = std::make_unique<OneAnswer>();
  const CaseRun ran = run(
      site,
      R"({"turns":[{"query":"tell me about bounded execution"},{"query":"do you use sqlite in production?"},{"query":"how do you name things?"}]})");
  CHECK(ran.results[0].errors == 0);
  CHECK(ran.results[0].trials == 1);
  CHECK(ran.results[1].error == "nobody answers");
  CHECK(ran.results[2].error == "an earlier turn could not be run: nobody answers");
  CHECK(ran.not_run == 2);
  CHECK(ran.error->kind == ErrorKind::unavailable);
}

TEST_CASE("the table counts turns, lists the kinds and the conversations that are right") {
  const std::string table = to_table(report(), false);
  CHECK(has(table, "conversations    4 turns       3 passed    1 failed"));
  CHECK(
      has(table, "  kind     turns   right\n  again        2   100 %\n  continue     2    50 %\n"));
  CHECK(has(table, "  1 of 2 conversations are right in every turn\n"));
  CHECK(has(table, "first_citation 75 %"));
  CHECK(has(table, "conversations/one#2"));
  CHECK(!has(table, "categories"));
}

TEST_CASE("JUnit, HTML and the comparison have the turns of conversations") {
  const std::string xml = junit_xml(report());
  CHECK(has(xml, "<testsuite name=\"conversations\" tests=\"4\" failures=\"1\""));
  CHECK(has(xml, R"(<testcase classname="conversations.again" name="two#1"/>)"));
  const std::string html = to_html(report(), {}, nullptr);
  CHECK(has(html, "conversations/continue"));
  CHECK(has(html, "one#2"));

  Report better = report();
  better.cases[1] = result("one#2", "continue", true);
  const Comparison comparison = compare(better, report(), 0.01, false);
  REQUIRE(comparison.worse.size() == 2);
  CHECK(comparison.worse[0].what == "conversations/one#2");
  CHECK(comparison.worse[1].what == "conversations.pass_rate");
  CHECK(compare(report(), report(), 0.01, false).worse.empty());
}

TEST_CASE("the built-in conversations have three to eight turns and many kinds") {
  const Cases cases = read(built_in("conversations.jsonl")).value();
  std::map<std::string, size_t> turns;
  std::map<std::string, std::set<std::string>> kinds;
  for (const Case& one : cases.cases) {
    REQUIRE(one.suite == "conversations");
    ++turns[one.conversation];
    kinds[one.category].insert(one.conversation);
  }
  CHECK(turns.size() >= 60);
  for (const auto& [conversation, count] : turns) {
    CAPTURE(conversation);
    CHECK(count >= 3);
    CHECK(count <= 8);
  }
  for (const std::string kind : {"seed", "catalogue", "by-date", "continue", "metadata", "position",
                                 "correction", "read", "again", "define", "vague", "tension",
                                 "page", "interests", "void", "guard", "mixed-languages"})
    CHECK_MESSAGE(kinds.contains(kind), kind);
}

}  // namespace conversation_test
