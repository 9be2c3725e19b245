// Turns: which session and visitor they get, and when a visitor is a returning one.
#include <doctest/doctest.h>

#include "pipeline/turn.h"
#include "support/site_fixture.h"

namespace turn_session_test {

using namespace stoka;
using namespace stoka::testing;

namespace {

constexpr const char* kSession = "11111111-1111-4111-8111-111111111111";
constexpr const char* kBounded = "philosophy-bounded-execution";

}  // namespace

TEST_CASE("after two hours a turn gets a new session with the same visitor") {
  SiteFixture fixture;
  RecordedTurn first = ask(fixture, "tell me about bounded execution", kSession);
  fixture.clock.advance(std::chrono::minutes(121));
  RecordedTurn second = ask(fixture, "tell me about bounded execution", kSession);
  REQUIRE(second.result);
  CHECK(second.ready().session_id != kSession);
  CHECK(second.ready().visitor_id == first.ready().visitor_id);
  CHECK(second.cites(kBounded));
  CHECK(second.result->turn.returning);
  CHECK(fixture.store->session(kSession).value()->turns == 1);
}

TEST_CASE(
    "a visitor who was stored before the session began counts as returning in each of its turns") {
  SiteFixture fixture;
  const std::string visitor = "22222222-2222-4222-8222-222222222222";
  const auto returning = [&](const std::string& session) {
    fixture.clock.advance(std::chrono::minutes(1));
    pipeline::TurnRequest request{"tell me about bounded execution", session, visitor, "", {}};
    const RecordedTurn turn = ask(fixture, request);
    REQUIRE(turn.result);
    return turn.result->turn.returning;
  };
  const std::string other = "33333333-3333-4333-8333-333333333333";
  for (int turn = 1; turn <= 3; ++turn) CHECK_FALSE(returning(kSession));
  for (int turn = 1; turn <= 3; ++turn) CHECK(returning(other));
  CHECK_FALSE(returning(kSession));
}

TEST_CASE("the prompt mentions a returning visitor in every turn of a session") {
  SiteFixture fixture;
  pipeline::TurnRequest request{"tell me about bounded execution", "", "", "", {}};
  request.visitor_id = "22222222-2222-4222-8222-222222222222";
  REQUIRE(fixture.store->update_visitor(request.visitor_id, std::vector<std::string>{"agents"},
                                        std::vector<HistoryEntry>{{"debono-boss-fight", kNow, 40}},
                                        kNow));
  fixture.clock.advance(std::chrono::hours(24));
  request.session_id = kSession;
  for (const char* query : {"tell me about bounded execution", "what about retries?"}) {
    request.query = query;
    pipeline::Turn turn = pipeline::prepare(fixture.engine(), request, {}).value();
    pipeline::build_prompt(fixture.engine(), turn);
    const std::string& system = turn.prompt.messages.front().content;
    CHECK(system.find("returning:       true") != std::string::npos);
    CHECK(system.find("reading_history: debono-boss-fight (40%)\n") != std::string::npos);
    REQUIRE(ask(fixture, request).result);
  }
}

TEST_CASE("ids are case-insensitive and are returned in lower case") {
  SiteFixture fixture;
  const std::string session = "abcdef11-1111-4111-8111-111111111111";
  const std::string visitor = "abcdef22-2222-4222-8222-222222222222";
  pipeline::TurnRequest request{"tell me about bounded execution",
                                "ABCDEF11-1111-4111-8111-111111111111",
                                "ABCDEF22-2222-4222-8222-222222222222",
                                "",
                                {}};
  for (int turns = 1; turns <= 2; ++turns) {
    RecordedTurn turn = ask(fixture, request);
    REQUIRE(turn.result);
    CHECK(turn.ready().session_id == session);
    CHECK(turn.ready().visitor_id == visitor);
    CHECK(fixture.store->session(session).value()->turns == turns);
    request.session_id = session;
    request.visitor_id = visitor;
  }
}

TEST_CASE("a request with the session of another visitor gets a new session") {
  SiteFixture fixture;
  ask(fixture, "tell me about bounded execution", kSession);
  RecordedTurn other =
      ask(fixture,
          pipeline::TurnRequest{"why?", kSession, "22222222-2222-4222-8222-222222222222", "", {}});
  REQUIRE(other.result);
  CHECK(other.ready().session_id != kSession);
  CHECK(other.result->turn.session.exchanges.empty());
  CHECK(fixture.store->session(kSession).value()->turns == 1);
}

}  // namespace turn_session_test
