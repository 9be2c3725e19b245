// Conversations over the sample site: questions about the site as a whole, and turns that refer to
// what was said.
#include <doctest/doctest.h>

#include <set>

#include "pipeline/site_answers.h"
#include "support/site_fixture.h"

namespace conversation_test {

using namespace stoka;
using namespace stoka::testing;

namespace {

constexpr const char* kSession = "11111111-1111-4111-8111-111111111111";
constexpr const char* kBounded = "philosophy-bounded-execution";

RecordedTurn say(SiteFixture& fixture, std::string query, std::string page = "") {
  pipeline::TurnRequest request{std::move(query), kSession, "", "", {}};
  request.page.page = std::move(page);
  RecordedTurn turn = ask(fixture, request);
  REQUIRE(turn.result);
  return turn;
}

bool contains(const RecordedTurn& turn, std::string_view text) {
  return turn.text().find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("questions about the site are answered from its catalogue") {
  SiteFixture fixture;
  const RecordedTurn best = say(fixture, "what's your best blog post?");
  CHECK(best.cited() == std::vector<std::string>{kBounded});
  CHECK(best.ready().route == Route::fresh);
  const RecordedTurn next_best = say(fixture, "recommend something");
  CHECK_FALSE(next_best.cites(kBounded));

  CHECK(say(fixture, "what's new?").cited().front() == "website-terminal");
  CHECK(contains(say(fixture, "how many posts do you have?"),
                 std::to_string(fixture.engine().catalog().value()->documents().size())));
  CHECK(contains(say(fixture, "what topics do you cover?"), "philosophy"));
  const RecordedTurn products = say(fixture, "what products do you have?");
  for (const char* name : {"Debono", "Kvitto", "Halyard", "Tern"}) CHECK(contains(products, name));
  CHECK(products.count<CiteEvent>() == 1);
  const RecordedTurn authors = say(fixture, "who writes this?");
  CHECK(contains(authors, "Ilse Marhold"));
  CHECK(contains(authors, "Tomas Brek"));
}

TEST_CASE("a page that the site does not have is answered with a line") {
  SiteFixture fixture;
  for (const char* query : {"how do i contact you?", "do you have a newsletter?", "rss?"}) {
    CAPTURE(std::string(query));
    const RecordedTurn turn = say(fixture, query);
    CHECK(turn.cited().empty());
    CHECK(!turn.text().empty());
    CHECK(turn.ready().route == Route::meta);
    CHECK_FALSE(contains(turn, "nothing here on that"));
  }
}

TEST_CASE("a date in the question chooses pages by their date") {
  SiteFixture fixture;
  const auto& catalog = *fixture.engine().catalog().value();
  const auto month_of = [&](const RecordedTurn& turn) {
    REQUIRE(!turn.cited().empty());
    return iso_date(*catalog.find(turn.cited().front())->date).substr(0, 7);
  };
  CHECK(month_of(say(fixture, "what did you publish in august?")) == "2026-08");
  CHECK(month_of(say(fixture, "anything from 2025?")).starts_with("2025"));
  const RecordedTurn none = say(fixture, "anything from 2019?");
  CHECK(none.cited().empty());
  CHECK(contains(none, "2019"));
}

TEST_CASE("a version asked for by number finds its page") {
  SiteFixture fixture;
  CHECK(say(fixture, "what's new in kvitto 3.2?").cites("patch-kvitto-rollback"));
  const auto& catalog = *fixture.engine().catalog().value();
  const auto slug = [&](std::string_view query) {
    const Document* page = pipeline::version_page(catalog, query);
    return page ? page->slug : "";
  };
  CHECK(slug("kvitto 3.2.0") == "patch-kvitto-rollback");
  CHECK(slug("kvitto v3.2") == "patch-kvitto-rollback");
  CHECK(slug("kvitto 3.3") == "");
  CHECK(slug("postgres 3.2") == "");
  CHECK(slug("32 of them") == "");
}

TEST_CASE("more gives further passages of the page, then a neighbour") {
  SiteFixture fixture;
  const RecordedTurn first = say(fixture, "how does debono handle errors?");
  REQUIRE(!first.cited().empty());
  const std::string page = first.cited().front();
  std::set<std::string> quotes{first.citations().front().quote};
  for (const char* query : {"more", "why?", "go on"}) {
    CAPTURE(std::string(query));
    const RecordedTurn turn = say(fixture, query);
    REQUIRE(turn.citations().size() == 1);
    CHECK(turn.ready().route == Route::followup);
    CHECK(turn.citations().front().slug == page);
    CHECK(turn.citations().front().kind == CiteKind::inline_quote);
    CHECK(quotes.insert(turn.citations().front().quote).second);
  }
  RecordedTurn last = say(fixture, "more");
  for (int i = 0; i < 4 && last.cites(page); ++i) last = say(fixture, "more");
  REQUIRE(last.citations().size() == 1);
  CHECK(last.citations().front().slug != page);
  CHECK(last.citations().front().kind != CiteKind::inline_quote);
}

TEST_CASE("a page that was read is kept in the history, and another view follows") {
  SiteFixture fixture;
  const RecordedTurn first = say(fixture, "tell me about bounded execution");
  const RecordedTurn turn = say(fixture, "i've read that one");
  REQUIRE(turn.citations().size() == 1);
  CHECK(turn.citations().front().slug != kBounded);
  CHECK(turn.citations().front().type != "philosophy");
  const auto visitor = fixture.store->visitor(first.ready().visitor_id).value();
  REQUIRE(visitor);
  REQUIRE(visitor->history.size() == 1);
  CHECK(visitor->history.front().slug == kBounded);
}

TEST_CASE("who, when, how long and where are answered from metadata") {
  SiteFixture fixture;
  say(fixture, "tell me about bounded execution");
  struct Case {
    const char* query;
    const char* part;
  };
  for (const Case& c : {Case{"who wrote it?", "Ilse Marhold"},
                        Case{"when was that?", "Apr 12, 2026"}, Case{"how long is it?", "8 min"},
                        Case{"give me the link", "/blog/philosophy-bounded-execution"}}) {
    CAPTURE(std::string(c.query));
    const RecordedTurn turn = say(fixture, c.query);
    CHECK(contains(turn, c.part));
    CHECK(turn.cited().empty());
  }
  CHECK(contains(say(fixture, "who wrote this page?", "/blog/restore-drills"), "Ilse Marhold"));
}

TEST_CASE("a vague turn without a referent is asked back, and never direct") {
  SiteFixture fixture;
  for (const char* query : {"it?", "why", "more", "who wrote it?", "i've read that one",
                            "define that", "the second one"}) {
    CAPTURE(std::string(query));
    const RecordedTurn turn = say(fixture, query);
    CHECK(turn.cited().empty());
    CHECK(turn.result->turn.confidence != Confidence::direct);
    CHECK(!turn.text().empty());
  }
  CHECK(say(fixture, "did it work?").text() == "define \"work.\"");
}

TEST_CASE("a correction replaces the question") {
  SiteFixture fixture;
  say(fixture, "tell me about the gpu");
  const RecordedTurn turn = say(fixture, "no, i meant the reranker on the cpu");
  CHECK(turn.cited().front() == "reranker-on-cpu");
  CHECK(turn.result->turn.query == "the reranker on the cpu");
}

TEST_CASE("a question that was answered is pointed at") {
  SiteFixture fixture;
  say(fixture, "what about sqlite in production?");
  say(fixture, "how do you do backups?");
  const RecordedTurn turn = say(fixture, "what about sqlite in production?");
  CHECK(turn.text().starts_with("above. "));
  CHECK(contains(turn, "/blog/sqlite-in-production"));
  CHECK(turn.cited().empty());
}

TEST_CASE("a page of the session is named by its position") {
  SiteFixture fixture;
  const RecordedTurn first = say(fixture, "tell me about bounded execution");
  say(fixture, "what do you know about caching?");
  const RecordedTurn turn = say(fixture, "the first one again");
  REQUIRE(turn.citations().size() == 1);
  CHECK(turn.citations().front().slug == first.cited().front());
  CHECK(turn.citations().front().quote != first.citations().front().quote);
}

TEST_CASE("what to read next on a page is related to it and is another page") {
  SiteFixture fixture;
  for (const char* query : {"more like this", "what should i read next?"}) {
    CAPTURE(std::string(query));
    const RecordedTurn turn = say(fixture, query, "/blog/philosophy-estimates");
    CHECK(turn.citations().size() == 1);
    CHECK_FALSE(turn.cites("philosophy-estimates"));
  }
}

}  // namespace conversation_test
