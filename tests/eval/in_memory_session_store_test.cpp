#include "eval/in_memory_session_store.h"

#include <doctest/doctest.h>

#include "support/site_fixture.h"

namespace in_memory_session_store_test {

using namespace stoka;
using namespace stoka::testing;
using eval::InMemorySessionStore;

namespace {

const std::string kSession = "11111111-1111-4111-8111-111111111111";
const std::string kVisitor = "22222222-2222-4222-8222-222222222222";

TurnRecord turn(std::vector<std::string> cited, const std::string& topic) {
  TurnRecord out;
  out.session_id = kSession;
  out.visitor_id = kVisitor;
  out.cited_slugs = std::move(cited);
  out.topic = topic;
  out.exchange = {"asked", "said", {}};
  for (const std::string& slug : out.cited_slugs) out.exchange.citations.push_back({slug});
  out.at = kNow;
  return out;
}

}  // namespace

TEST_CASE("turns and readings merge as in a store on disk") {
  SiteFixture house;
  InMemorySessionStore sessions;
  CHECK(!sessions.session(kSession).value());
  CHECK(sessions.commit_turn(turn({"a"}, "one")).value().turns == 1);
  const Session merged = sessions.commit_turn(turn({"b", "a"}, "two")).value();
  const Session stored = [&] {
    house.store->commit_turn(turn({"a"}, "one")).value();
    return house.store->commit_turn(turn({"b", "a"}, "two")).value();
  }();
  CHECK(merged.shown_slugs == stored.shown_slugs);
  CHECK(merged.explored_topics == stored.explored_topics);
  CHECK(merged.turns == stored.turns);
  CHECK(merged.exchanges.size() == stored.exchanges.size());
  CHECK(sessions.session(kSession).value()->turns == 2);
  CHECK(sessions.visitor(kVisitor).value()->id == kVisitor);
  CHECK(sessions.all_shown_slugs().value() == std::vector<std::string>{"a", "b"});

  InMemorySessionStore other;
  other.commit_turn(turn({"a"}, "one")).value();
  other.update_visitor(kVisitor, std::vector<std::string>{"agents"}, {}, kNow).value();
  CHECK(other.visitor(kVisitor).value()->interests == std::vector<std::string>{"agents"});
}

TEST_CASE("operations that an evaluation does not need return an error") {
  InMemorySessionStore sessions;
  CHECK(!sessions.visitors_after("", 1));
  CHECK(!sessions.sessions_after("", 1));
  CHECK(!sessions.put_visitors({}));
  CHECK(!sessions.put_sessions({}));
  TurnRecord verified = turn({}, "");
  verified.subject = "somebody";
  CHECK(!sessions.commit_turn(verified));
  TurnRecord nameless = turn({}, "");
  nameless.session_id = "x";
  CHECK(sessions.commit_turn(nameless).error().kind == ErrorKind::usage);
}

}  // namespace in_memory_session_store_test
