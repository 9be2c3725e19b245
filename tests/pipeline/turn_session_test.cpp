// Whose session a turn belongs to, and who is a returning visitor.
#include <doctest/doctest.h>

#include "house.h"
#include "pipeline/turn.h"

namespace turn_session_test {

using namespace stoka;
using namespace stoka::test;

namespace {

constexpr const char* kSession = "11111111-1111-4111-8111-111111111111";
constexpr const char* kBounded = "philosophy-bounded-execution";

}  // namespace

TEST_CASE("after two hours a session ends and its visitor stays") {
  House house;
  Heard first = ask(house, "tell me about bounded execution", kSession);
  house.clock.advance(std::chrono::minutes(121));
  Heard second = ask(house, "tell me about bounded execution", kSession);
  REQUIRE(second.outcome);
  CHECK(second.ready().session_id != kSession);
  CHECK(second.ready().visitor_id == first.ready().visitor_id);
  CHECK(second.cites(kBounded));
  CHECK(second.outcome->turn.returning);
  CHECK(house.store->session(kSession).value()->turns == 1);
}

TEST_CASE("a visitor who was known before the session is returning in each of its turns") {
  House house;
  const std::string visitor = "22222222-2222-4222-8222-222222222222";
  const auto returning = [&](const std::string& session) {
    house.clock.advance(std::chrono::minutes(1));
    pipeline::TurnRequest request{"tell me about bounded execution", session, visitor, "", {}};
    const Heard heard = ask(house, request);
    REQUIRE(heard.outcome);
    return heard.outcome->turn.returning;
  };
  const std::string other = "33333333-3333-4333-8333-333333333333";
  for (int turn = 1; turn <= 3; ++turn) CHECK_FALSE(returning(kSession));
  for (int turn = 1; turn <= 3; ++turn) CHECK(returning(other));
  CHECK_FALSE(returning(kSession));
}

TEST_CASE("a model is told of a returning visitor in the second turn of a session too") {
  House house;
  pipeline::TurnRequest request{"tell me about bounded execution", "", "", "", {}};
  request.visitor_id = "22222222-2222-4222-8222-222222222222";
  REQUIRE(house.store->update_visitor(request.visitor_id, std::vector<std::string>{"agents"},
                                      std::vector<Reading>{{"debono-boss-fight", kNow, 40}}, kNow));
  house.clock.advance(std::chrono::hours(24));
  request.session_id = kSession;
  for (const char* query : {"tell me about bounded execution", "what about retries?"}) {
    request.query = query;
    pipeline::Turn turn = pipeline::prepare(house.engine(), request, {}).value();
    pipeline::build_prompt(house.engine(), turn);
    const std::string& system = turn.prompt.messages.front().content;
    CHECK(system.find("returning:       true") != std::string::npos);
    CHECK(system.find("reading_history: debono-boss-fight (40%)\n") != std::string::npos);
    REQUIRE(ask(house, request).outcome);
  }
}

TEST_CASE("an id in upper case is the same one, and is given back in lower case") {
  House house;
  const std::string session = "abcdef11-1111-4111-8111-111111111111";
  const std::string visitor = "abcdef22-2222-4222-8222-222222222222";
  pipeline::TurnRequest request{"tell me about bounded execution",
                                "ABCDEF11-1111-4111-8111-111111111111",
                                "ABCDEF22-2222-4222-8222-222222222222",
                                "",
                                {}};
  for (int turns = 1; turns <= 2; ++turns) {
    Heard heard = ask(house, request);
    REQUIRE(heard.outcome);
    CHECK(heard.ready().session_id == session);
    CHECK(heard.ready().visitor_id == visitor);
    CHECK(house.store->session(session).value()->turns == turns);
    request.session_id = session;
    request.visitor_id = visitor;
  }
}

TEST_CASE("naming somebody else's session opens a new one") {
  House house;
  ask(house, "tell me about bounded execution", kSession);
  Heard other = ask(house, pipeline::TurnRequest{
                               "why?", kSession, "22222222-2222-4222-8222-222222222222", "", {}});
  REQUIRE(other.outcome);
  CHECK(other.ready().session_id != kSession);
  CHECK(other.outcome->turn.session.exchanges.empty());
  CHECK(house.store->session(kSession).value()->turns == 1);
}

}  // namespace turn_session_test
