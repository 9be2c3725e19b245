// Models that misbehave, and what the visitor sees of it.
#include <doctest/doctest.h>

#include <map>
#include <set>

#include "pipeline/explain.h"
#include "support/site_fixture.h"

namespace misbehaviour_test {

using namespace stoka;
using namespace stoka::testing;

namespace {

constexpr const char* kSession = "11111111-1111-4111-8111-111111111111";
constexpr const char* kQuestion = "tell me about bounded execution";
constexpr const char* kBounded = "philosophy-bounded-execution";
constexpr const char* kVoid = "nothing here on that. yet.";

// A model that writes the same answer to every question, a few bytes at a time.
class Model final : public generate::Generator {
 public:
  Model(std::string answer, size_t piece) : answer_(std::move(answer)), piece_(piece) {}
  std::string name() const override { return "misbehaving"; }
  bool reads_prompt() const override { return true; }
  Result<std::unique_ptr<generate::GenerationStream>> begin(const generate::GenerationRequest&,
                                                            std::stop_token) override {
    std::vector<std::string> pieces;
    for (size_t at = 0; at < answer_.size(); at += piece_)
      pieces.push_back(answer_.substr(at, piece_));
    return generate::known_answer(std::move(pieces));
  }

 private:
  const std::string answer_;
  const size_t piece_;
};

// What the visitor saw: the text, and each citation as {slug}.
std::string seen(const RecordedTurn& turn) {
  std::string out;
  for (const Event& event : turn.events) {
    if (const auto* token = std::get_if<TokenEvent>(&event)) out += token->text;
    if (const auto* cite = std::get_if<CiteEvent>(&event)) out += "{" + cite->citation.slug + "}";
  }
  return out;
}

using Changes = std::map<std::string, size_t>;

Changes changes(const RecordedTurn& turn) {
  Changes out;
  for (const cite::Intervention& one : turn.result->stream_result.summary.interventions)
    out[std::string(cite::to_string(one.kind))] = one.count;
  return out;
}

struct Case {
  std::string name;
  std::string answer;  // @ stands for a citation of the page that was asked for
  std::string seen;    // and here too
  Changes changes = {};
  std::set<int> never = {};  // the items of the NEVER list that the answer breaks
};

std::string with_citations(std::string text, const std::string& citation) {
  for (size_t at = 0; (at = text.find('@', at)) != std::string::npos; at += citation.size())
    text.replace(at, 1, citation);
  return text;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"never cites",
       "limits come first. ability comes later.",
       "limits come first. ability comes later.@",
       {{"cited", 1}}},
      {"cites only ghosts",
       "read this. <cite slug=\"the-great-beyond\" quote=\"x\"/> then that.",
       "read this. then that.@",
       {{"cited", 1}},
       {15}},
      {"is only a ghost", "<cite slug=\"the-great-beyond\" quote=\"x\"/>", "@", {{"cited", 1}}},
      {"ten sentences",
       "a bound holds. a clock counts. a counter stops. a runner waits. a worker works. "
       "a box is a box. a rule is a rule. a file is a file. a night is long. a day is short.",
       "a bound holds. a clock counts. a counter stops.@",
       {{"cut", 7}, {"cited", 1}},
       {5, 10}},
      {"cites after four sentences",
       "a bound holds. a clock counts. a counter stops. a runner waits. @",
       "a bound holds. a clock counts. a counter stops. @",
       {{"cut", 1}},
       {10}},
      {"four sentences after the citation",
       "here. @ a bound holds. a clock counts. a counter stops. a runner waits.",
       "here. @a bound holds. a clock counts. a counter stops.",
       {{"cut", 1}}},
      {"a number that nobody wrote",
       "it cost 48211 euros. limits come first.",
       "limits come first.@",
       {{"unsupported", 1}, {"cited", 1}},
       {14}},
      {"a name that nobody wrote, with a citation",
       "Aurora Vance wrote it. @",
       "@",
       {{"unsupported", 1}},
       {14}},
      {"a quotation that nobody wrote",
       "it says \"agents dream of open meadows. and of rain\", somewhere. limits come first.",
       "limits come first.@",
       {{"unsupported", 1}, {"cited", 1}},
       {14}},
      {"nothing that anybody wrote",
       "it was built in 48211. Aurora Vance founded it.",
       kVoid,
       {{"unsupported", 2}, {"voided", 1}},
       {14}},
      {"nothing at all", "", "@", {{"cited", 1}}},
      {"greets", "Hello there! limits come first. @", "limits come first. @", {}, {1}},
      {"greets late",
       "limits come first. welcome to the site. @",
       "limits come first. @",
       {{"forbidden", 1}},
       {1}},
      {"praises the question",
       "Great question! limits come first. @",
       "limits come first. @",
       {},
       {2}},
      {"is happy to help",
       "I'd be happy to help. limits come first. @",
       "limits come first. @",
       {},
       {3}},
      {"offers more help",
       "limits come first. @ let me know if you need more.",
       "limits come first. @",
       {{"forbidden", 1}},
       {3}},
      {"apologizes", "I'm sorry, limits come first. @", "limits come first. @", {}, {4}},
      {"summarizes",
       "to summarize, the essay lists its numbers. limits come first. @",
       "limits come first. @",
       {{"forbidden", 1}},
       {5}},
      {"exclaims", "limits come first! @", "limits come first. @", {}, {6}},
      {"smiles", "limits \U0001F680 come first. @", "limits come first. @", {}, {7}},
      {"lists",
       "in order:\n- the leash\n- the clock. @",
       "in order: the leash, the clock. @",
       {},
       {8}},
      {"repeats a citation", "here. @ and again. @", "here. @and again.", {}, {9}},
      {"is excited",
       "wow! so excited about this. limits come first. @",
       "limits come first. @",
       {{"forbidden", 2}},
       {11}},
      {"offers alternatives",
       "you might try a search engine. limits come first. @",
       "limits come first. @",
       {{"forbidden", 1}},
       {12}},
      {"repeats the question",
       "you asked about bounded execution. limits come first. @",
       "limits come first. @",
       {{"forbidden", 1}},
       {13}},
      {"repeats the whole question",
       "tell me about bounded execution, they say. limits come first. @",
       "limits come first. @",
       {{"forbidden", 1}},
       {13}},
      {"behaves", "limits come first. @ who set yours?", "limits come first. @who set yours?"},
  };
  return all;
}

RecordedTurn run(SiteFixture& fixture, const std::string& answer, size_t piece) {
  const std::string tag = "<cite slug=\"" + std::string(kBounded) +
                          "\" quote=\"A bound is a limit that holds when nobody is watching.\"/>";
  fixture.generator = std::make_unique<Model>(with_citations(answer, tag), piece);
  return ask(fixture, kQuestion, kSession);
}

}  // namespace

TEST_CASE("a model that misbehaves is tamed before the visitor sees it") {
  for (const Case& c : cases()) {
    for (const size_t piece : {1, 7, 1000}) {
      CAPTURE(c.name);
      CAPTURE(piece);
      SiteFixture fixture;
      const RecordedTurn turn = run(fixture, c.answer, piece);
      REQUIRE(turn.result);
      CHECK(turn.well_formed());
      CHECK(turn.ready().route == Route::fresh);
      CHECK(seen(turn) == with_citations(c.seen, "{" + std::string(kBounded) + "}"));
      CHECK(changes(turn) == c.changes);
      CHECK(std::holds_alternative<DoneEvent>(turn.events.back()));
    }
  }
}

TEST_CASE("every item of the NEVER list is broken by a case") {
  std::set<int> broken, items;
  for (const Case& c : cases()) broken.insert(c.never.begin(), c.never.end());
  const size_t count = golden::load().value().never.size();
  for (size_t i = 1; i <= count; ++i) items.insert(static_cast<int>(i));
  CHECK(broken == items);
}

TEST_CASE("the void reply has no confidence, is not kept as an exchange and explores no topic") {
  SiteFixture fixture;
  const RecordedTurn turn = run(fixture, "it was built in 48211.", 3);
  REQUIRE(turn.result);
  CHECK(turn.text() == kVoid);
  CHECK(std::get<DoneEvent>(turn.events.back()).confidence == Confidence::nothing);
  const Session session = fixture.store->session(kSession).value().value();
  CHECK(session.turns == 1);
  CHECK(session.exchanges.empty());
  CHECK(session.explored_topics.empty());
  CHECK(session.shown_slugs.empty());
}

TEST_CASE("a citation that is added has a real quote that the session has not shown") {
  SiteFixture fixture;
  const RecordedTurn first = run(fixture, "limits come first.", 3);
  REQUIRE(first.citations().size() == 1);
  CHECK(first.cites(kBounded));
  CHECK_FALSE(first.citations()[0].quote.empty());
  CHECK(first.result->stream_result.summary.replaced == 0);
  const RecordedTurn second = ask(fixture, "why do agents need limits and bounds?", kSession);
  REQUIRE(second.result);
  for (const Citation& citation : second.citations()) {
    if (citation.slug != kBounded) continue;
    CHECK(citation.kind == CiteKind::inline_quote);
    CHECK(citation.quote != first.citations()[0].quote);
  }
}

TEST_CASE("/why and --trace say what was changed and why") {
  SiteFixture fixture;
  const RecordedTurn turn = run(fixture, "it cost 48211 euros. limits come first.", 5);
  REQUIRE(turn.result);
  for (const std::string& text : {pipeline::explain(*turn.result), pipeline::trace(*turn.result)}) {
    CAPTURE(text);
    CHECK(text.find("unsupported 1, number or date '48211' was not retrieved\n") !=
          std::string::npos);
    CHECK(text.find("cited       1, philosophy-bounded-execution\n") != std::string::npos);
  }
}

TEST_CASE("the built-in voice passes untouched") {
  SiteFixture fixture;
  for (const char* query : {kQuestion, "how do you handle failures?", "what about limits?",
                            "and why?", "what is debono"}) {
    const RecordedTurn turn = ask(fixture, query, kSession);
    REQUIRE(turn.result);
    CHECK(turn.result->stream_result.summary.interventions.empty());
  }
}

}  // namespace misbehaviour_test
