#include <doctest/doctest.h>

#include <map>
#include <span>
#include <string>
#include <vector>

#include "store/contract.h"
#include "store/corpus.h"

namespace contract_sessions_test {

using namespace stoka;
using namespace stoka::store;

namespace {

Instant at(int64_t ms) { return Instant(std::chrono::milliseconds(ms)); }

TurnRecord turn(const std::string& session, const std::string& visitor, int64_t ms) {
  TurnRecord record;
  record.session_id = uuid(session);
  record.visitor_id = uuid(visitor);
  record.at = at(ms);
  record.exchange.user = "question " + std::to_string(ms);
  record.exchange.assistant = "answer\n\"" + std::to_string(ms) + "\" \xE6\xBC\xA2";
  record.exchange.citations = {{"slug-" + std::to_string(ms), "Title", "A \"quote\".", "/a#b"}};
  return record;
}

template <class T>
Error error_of(const Result<T>& result) {
  REQUIRE_FALSE(result);
  return result.error();
}

}  // namespace

TEST_CASE("an unknown session or visitor is not found") {
  const ContractStore store;
  CHECK_FALSE(store->session(uuid("s"))->has_value());
  CHECK_FALSE(store->visitor(uuid("v"))->has_value());
  CHECK(store->all_shown_slugs()->empty());
}

TEST_CASE(
    "the first turn creates session and visitor, and the session is loaded as it was returned") {
  const ContractStore store;
  TurnRecord first = turn("s", "v", 1000);
  first.cited_slugs = {"b", "a", "b"};
  first.topic = "systems";
  const auto made = store->commit_turn(first);
  REQUIRE(made);
  const auto again = store.open();
  const auto found = again->session(uuid("s"));
  REQUIRE(found);
  REQUIRE(found->has_value());
  for (const Session& session : {*made, **found}) {
    CHECK(session.id == uuid("s"));
    CHECK(session.visitor_id == uuid("v"));
    CHECK(session.shown_slugs == std::vector<std::string>{"b", "a"});
    CHECK(session.explored_topics == std::vector<std::string>{"systems"});
    CHECK(session.turns == 1);
    REQUIRE(session.exchanges.size() == 1);
    CHECK(session.exchanges[0].user == first.exchange.user);
    CHECK(session.exchanges[0].assistant == first.exchange.assistant);
    CHECK(session.exchanges[0].citations == first.exchange.citations);
    CHECK((session.started_at == at(1000)));
    CHECK((session.last_active == at(1000)));
  }
  const auto visitor = again->visitor(uuid("v"));
  REQUIRE(visitor);
  REQUIRE(visitor->has_value());
  CHECK((*visitor)->subject == "");
  CHECK(((*visitor)->first_seen == at(1000)));
}

TEST_CASE(
    "shown slugs are a set in order of first showing, topics a list without consecutive "
    "repeats") {
  const ContractStore store;
  const std::vector<std::pair<std::vector<std::string>, std::string>> turns = {
      {{"b"}, "x"}, {{"a", "b"}, "x"}, {{}, ""}, {{"c", "a"}, "y"}, {{}, "x"}};
  int64_t ms = 0;
  for (const auto& [cited, topic] : turns) {
    TurnRecord record = turn("s", "v", ++ms);
    record.cited_slugs = cited;
    record.topic = topic;
    REQUIRE(store->commit_turn(record));
  }
  const auto session = *store->session(uuid("s"));
  REQUIRE(session);
  CHECK(session->shown_slugs == std::vector<std::string>{"b", "a", "c"});
  CHECK(session->explored_topics == std::vector<std::string>{"x", "y", "x"});
  CHECK(session->turns == 5);
  TurnRecord other = turn("s2", "v", 9);
  other.cited_slugs = {"z", "a"};
  REQUIRE(store->commit_turn(other));
  CHECK(*store->all_shown_slugs() == std::vector<std::string>{"a", "b", "c", "z"});
}

TEST_CASE("commit_turns() stores the same as single commits, and an invalid turn fails alone") {
  const ContractStore store;
  const auto one_by_one = store.open();
  std::vector<TurnRecord> turns;
  for (int64_t ms = 1; ms <= 12; ++ms) {
    // Alternates between two sessions of one visitor and one of another.
    TurnRecord record = turn(ms % 3 == 0   ? "s3"
                             : ms % 3 == 1 ? "s1"
                                           : "s2",
                             ms % 3 == 0 ? "w" : "v", ms);
    record.cited_slugs = {"slug-" + std::to_string(ms % 5)};
    record.topic = ms % 2 ? "x" : "y";
    if (ms == 4) record.subject = "auth|1";
    turns.push_back(record);
  }
  turns[5].session_id = "bad";
  const auto stored = store->commit_turns(turns);
  REQUIRE(stored.size() == turns.size());
  std::map<std::string, int> expected;
  for (size_t i = 0; i < turns.size(); ++i) {
    CAPTURE(i);
    if (i == 5) {
      CHECK(error_of(stored[i]).kind == ErrorKind::usage);
      continue;
    }
    REQUIRE(stored[i]);
    CHECK(stored[i]->id == turns[i].session_id);
    CHECK(stored[i]->turns == ++expected[turns[i].session_id]);
    CHECK(stored[i]->exchanges.back().user == turns[i].exchange.user);
  }
  for (const auto& [id, count] : expected) {
    const auto session = *one_by_one->session(id);
    REQUIRE(session);
    CHECK(session->turns == count);
    CHECK(session->exchanges.size() == static_cast<size_t>(count));
  }
  CHECK(store->visitor(uuid("v"))->value().subject == "auth|1");
  CHECK(store->visitor(uuid("w"))->value().subject == "");
  CHECK(store->commit_turns({}).empty());
}

TEST_CASE("the last ten exchanges are kept") {
  const ContractStore store;
  for (int64_t ms = 1; ms <= 13; ++ms) REQUIRE(store->commit_turn(turn("s", "v", ms)));
  const auto session = *store->session(uuid("s"));
  REQUIRE(session);
  REQUIRE(session->exchanges.size() == 10);
  CHECK(session->exchanges.front().user == "question 4");
  CHECK(session->exchanges.back().user == "question 13");
  CHECK(session->turns == 13);
  CHECK((session->started_at == at(1)));
  CHECK((session->last_active == at(13)));
}

TEST_CASE("a turn that is stored late does not decrease last_active") {
  const ContractStore store;
  REQUIRE(store->commit_turn(turn("s", "v", 50)));
  REQUIRE(store->commit_turn(turn("s", "v", 20)));
  CHECK((store->session(uuid("s"))->value().last_active == at(50)));
  CHECK((store->visitor(uuid("v"))->value().last_seen == at(50)));
}

TEST_CASE("a session keeps its visitor when a turn names another one") {
  const ContractStore store;
  REQUIRE(store->commit_turn(turn("s", "v", 1)));
  const auto session = store->commit_turn(turn("s", "stranger", 2));
  REQUIRE(session);
  CHECK(session->visitor_id == uuid("v"));
}

TEST_CASE("a verified subject has one visitor, into whom the anonymous one is merged") {
  const ContractStore store;
  const std::vector<std::string> anonymous = {"systems", "rust"};
  const HistoryEntry read[] = {{"page", at(5), 80}};
  REQUIRE(store->update_visitor(uuid("old"), anonymous, read, at(5)));
  TurnRecord record = turn("s1", "old", 6);
  record.subject = "auth|1";
  REQUIRE(store->commit_turn(record));
  CHECK(store->visitor(uuid("old"))->value().subject == "auth|1");
  CHECK(store->visitor_by_subject("auth|1")->value().id == uuid("old"));
  CHECK_FALSE(store->visitor_by_subject("auth|2")->has_value());
  CHECK_FALSE(store->visitor_by_subject("")->has_value());
  CHECK_FALSE(store->visitor_by_subject(std::string("auth|1\0", 7))->has_value());

  REQUIRE(store->update_visitor(uuid("new"), std::vector<std::string>{"rust", "maps"}, {}, at(7)));
  REQUIRE(store->commit_turn(turn("s2", "new", 8)));
  record = turn("s2", "new", 9);
  record.subject = "auth|1";
  const auto session = store->commit_turn(record);
  REQUIRE(session);
  CHECK(session->visitor_id == uuid("old"));
  CHECK(session->turns == 2);
  CHECK_FALSE(store->visitor(uuid("new"))->has_value());
  const auto merged = *store->visitor(uuid("old"));
  REQUIRE(merged);
  CHECK(merged->interests == std::vector<std::string>{"systems", "rust", "maps"});
  CHECK(merged->history.size() == 1);
  CHECK((merged->first_seen == at(5)));
  CHECK((merged->last_seen == at(9)));

  TurnRecord third = turn("s3", "third", 10);
  third.subject = "auth|1";
  CHECK(store->commit_turn(third)->visitor_id == uuid("old"));
  CHECK_FALSE(store->visitor(uuid("third"))->has_value());
}

TEST_CASE("a visitor of one subject is never given to another") {
  const ContractStore store;
  TurnRecord mine = turn("s1", "v", 1);
  mine.subject = "one";
  REQUIRE(store->commit_turn(mine));
  TurnRecord theirs = turn("s2", "v", 2);
  theirs.subject = "two";
  const auto session = store->commit_turn(theirs);
  REQUIRE(session);
  CHECK(session->visitor_id != uuid("v"));
  CHECK(store->visitor(uuid("v"))->value().subject == "one");
  CHECK(store->visitor(session->visitor_id)->value().subject == "two");
}

TEST_CASE("interests are replaced only if given, and the latest reading of a page is kept") {
  const ContractStore store;
  const HistoryEntry first[] = {{"a", at(10), 30}, {"b", at(5), 100}, {"a", at(3), 99}};
  auto visitor = store->update_visitor(uuid("v"), std::vector<std::string>{"x"}, first, at(20));
  REQUIRE(visitor);
  CHECK((visitor->first_seen == at(20)));
  const HistoryEntry second[] = {{"b", at(30), 10}, {"a", at(9), 1}};
  visitor = store->update_visitor(uuid("v"), std::nullopt, second, at(40));
  REQUIRE(visitor);
  const auto found = *store.open()->visitor(uuid("v"));
  REQUIRE(found);
  for (const Visitor& v : {*visitor, *found}) {
    CHECK(v.interests == std::vector<std::string>{"x"});
    REQUIRE(v.history.size() == 2);
    CHECK(v.history[0].slug == "a");
    CHECK((v.history[0].at == at(10)));
    CHECK(v.history[0].scroll_pct == 30);
    CHECK(v.history[1].slug == "b");
    CHECK(v.history[1].scroll_pct == 10);
    CHECK((v.first_seen == at(20)));
    CHECK((v.last_seen == at(40)));
  }
  visitor = store->update_visitor(uuid("v"), std::vector<std::string>{}, {}, at(41));
  REQUIRE(visitor);
  CHECK(visitor->interests.empty());
  CHECK(visitor->history.size() == 2);
}

TEST_CASE("the 500 latest readings are kept") {
  const ContractStore store;
  std::vector<HistoryEntry> readings;
  for (int i = 0; i < 520; ++i) readings.push_back({"p" + std::to_string(i), at(i), 100});
  const auto visitor = store->update_visitor(uuid("v"), std::nullopt, readings, at(0));
  REQUIRE(visitor);
  REQUIRE(visitor->history.size() == 500);
  CHECK(visitor->history.front().slug == "p20");
  CHECK(visitor->history.back().slug == "p519");
}

TEST_CASE("an id that is not a UUID in lower case is not found and not stored") {
  const ContractStore store;
  const std::string good = uuid("s");
  for (const std::string& bad :
       {std::string(), std::string("s"), std::string("5B0C3F0E-1111-4222-8333-444444444444"),
        good + "x", good + std::string(1, '\0'), std::string("{" + good + "}"),
        std::string("00000000000000000000000000000001"),
        std::string("'; DROP TABLE stoka_sessions; --\xFF\n")}) {
    CAPTURE(bad);
    TurnRecord of_session = turn("s", "v", 1);
    of_session.session_id = bad;
    TurnRecord of_visitor = turn("s", "v", 1);
    of_visitor.visitor_id = bad;
    Visitor visitor;
    visitor.id = bad;
    Session session;
    session.id = bad;
    session.visitor_id = good;
    const Error errors[] = {error_of(store->commit_turn(of_session)),
                            error_of(store->commit_turn(of_visitor)),
                            error_of(store->update_visitor(bad, std::nullopt, {}, at(1))),
                            error_of(store->put_visitors(std::span(&visitor, 1))),
                            error_of(store->put_sessions(std::span(&session, 1)))};
    for (const Error& error : errors) {
      CHECK(error.kind == ErrorKind::usage);
      CHECK(error.message.find("is not a UUID in lower case") != std::string::npos);
      CHECK(error.message.find_first_of(std::string_view("\n\0", 2)) == std::string::npos);
      CHECK_FALSE(error.hint.empty());
    }
    const auto found_session = store->session(bad);
    REQUIRE(found_session);
    CHECK_FALSE(found_session->has_value());
    const auto found_visitor = store->visitor(bad);
    REQUIRE(found_visitor);
    CHECK_FALSE(found_visitor->has_value());
  }
  CHECK(store->visitors_after("", 10)->empty());
  CHECK(store->sessions_after("", 10)->empty());
}

TEST_CASE("a visitor id used as a session id does not change the visitor") {
  const ContractStore store;
  TurnRecord mine = turn("s1", "v", 1);
  mine.subject = "one";
  REQUIRE(store->commit_turn(mine));
  REQUIRE(store->update_visitor(uuid("victim"), std::vector<std::string>{"maps"}, {}, at(1)));
  TurnRecord theirs = turn("victim", "v", 2);
  theirs.subject = "two";
  const auto session = store->commit_turn(theirs);
  REQUIRE(session);
  CHECK(session->visitor_id != uuid("v"));
  CHECK(session->visitor_id != uuid("victim"));
  CHECK(store->visitor(uuid("victim"))->value().interests == std::vector<std::string>{"maps"});
  CHECK(store->visitor(uuid("victim"))->value().subject == "");
  CHECK(store->visitor(uuid("v"))->value().subject == "one");
  CHECK(store->visitor(session->visitor_id)->value().subject == "two");
}

}  // namespace contract_sessions_test
