#include "pipeline/engine.h"

#include <doctest/doctest.h>

#include <set>

#include "pipeline/discover.h"
#include "support/site_fixture.h"

namespace engine_test {

using namespace stoka;
using namespace stoka::testing;

namespace {

store::DocumentInfo page(std::string slug, std::string type, const char* date = nullptr) {
  store::DocumentInfo out;
  out.document.slug = std::move(slug);
  out.document.type = std::move(type);
  if (date) out.document.date = parse_date(date);
  return out;
}

golden::Golden with_identity_reply(const char* reply) {
  golden::Golden out = golden::load().value();
  out.replies["what"] = {reply};
  return out;
}

}  // namespace

TEST_CASE("the facts of a site come from the types and dates of its pages") {
  struct Case {
    const char* name;
    std::vector<store::DocumentInfo> pages;
    golden::SiteFacts facts;
  };
  // Today is 2026-11-21.
  const Case table[] = {
      {"empty", {}, {}},
      {"notes only", {page("a", "blog", "2001-01-01")}, {}},
      {"patch notes", {page("a", "changelog")}, {true, false, false}},
      {"a product", {page("a", "product")}, {false, true, false}},
      {"an essay of this year", {page("a", "philosophy", "2026-01-01")}, {}},
      {"an essay without a date", {page("a", "philosophy")}, {}},
      {"an essay of a year ago", {page("a", "philosophy", "2025-11-21")}, {}},
      {"an older essay", {page("a", "philosophy", "2025-11-20")}, {false, false, true}},
      {"all",
       {page("a", "changelog"), page("b", "product"), page("c", "philosophy", "2020-01-01")},
       {true, true, true}},
  };
  uint64_t generation = 1;
  SiteFixture fixture;
  for (const Case& c : table) {
    CAPTURE(std::string(c.name));
    const pipeline::Catalog catalog(c.pages, ++generation);
    CHECK(fixture.engine().site_facts(catalog) == c.facts);
    CHECK(fixture.engine().site_facts(catalog) == c.facts);
  }
}

TEST_CASE("the hint of the front page names patch notes only if there are some") {
  SiteFixture sample, empty(false);
  CHECK(pipeline::ambient(sample.engine(), "/").value().hint.find("patch notes") !=
        std::string::npos);
  const std::string hint = pipeline::ambient(empty.engine(), "/").value().hint;
  CHECK(!hint.empty());
  CHECK(hint.find("patch notes") == std::string::npos);
}

TEST_CASE("a turn knows what its site has") {
  SiteFixture fixture;
  const auto turn = pipeline::prepare(fixture.engine(), {"bounded execution", "", "", "", {}}, {});
  REQUIRE_MESSAGE(turn, turn.error().message);
  CHECK(turn->site.has_changelog);
  CHECK(turn->site.has_product);
  pipeline::TurnStreamer streamer(fixture.engine(), *turn, [](const Event&) {});
  CHECK(streamer.request().site == turn->site);
  CHECK(streamer.request().session_id == turn->session.id);
}

TEST_CASE("examples whose pages are not indexed are not in the prompt") {
  SiteFixture fixture;
  fixture.golden.exchange_list.push_back(
      {"owls?", "<cite slug=\"owls\" quote=\"q\"/>", "visitor: owls?\nstoka: <cite …/>", {"owls"}});
  auto turn = pipeline::prepare(fixture.engine(), {"bounded execution", "", "", "", {}}, {});
  REQUIRE_MESSAGE(turn, turn.error().message);
  pipeline::build_prompt(fixture.engine(), *turn);
  const std::string& system = turn->prompt.messages.front().content;
  CHECK(system.find("visitor: what is this?") != std::string::npos);
  CHECK(system.find("debono-error-handling") != std::string::npos);
  CHECK(system.find("owls") == std::string::npos);
}

TEST_CASE("a replaced voice is used by later turns, and the old one stays valid") {
  SiteFixture fixture;
  pipeline::Engine& engine = fixture.engine();
  const pipeline::Engine::Parts& before = engine.parts();
  const std::string old = before.golden.reply("what");
  CHECK(ask(fixture, "what is this?").text() == old);
  const golden::Golden other = with_identity_reply("a lighthouse.");
  const route::Router router = route::Router::make(other.router).value();
  engine.replace_voice(other, router, fixture.guard, *fixture.generator);
  CHECK(ask(fixture, "what is this?").text() == "a lighthouse.");
  CHECK(before.golden.reply("what") == old);
  CHECK(&engine.parts().index == &before.index);
}

TEST_CASE("the turns of one session do not end in the same question twice") {
  SiteFixture fixture;
  const std::string session = "11111111-1111-4111-8111-111111111111";
  std::set<std::string> said;
  int answered = 0;
  for (const char* question :
       {"tell me about bounded execution", "how do you handle expired certificates in production",
        "why should a cache be invalidated at all on a site",
        "what happened when seven agents ran at the same time",
        "how does the reranker run on the cpu of the server",
        "what are restore drills and how often are they done",
        "how is sqlite used in production on one machine",
        "what does debono do with a deck that it cannot read",
        "why do logs have to be readable for strangers"}) {
    const RecordedTurn turn = ask(fixture, question, session);
    if (turn.citations().empty()) continue;
    ++answered;
    const std::string text = turn.text();
    const std::string closer = text.substr(text.find_last_of('\n') + 1);
    CAPTURE(text);
    if (closer.ends_with('?')) CHECK(said.insert(closer).second);
  }
  CHECK(answered >= 5);
}

}  // namespace engine_test
