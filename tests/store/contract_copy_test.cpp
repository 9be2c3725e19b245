// Sessions and visitors copied from another store.
#include <doctest/doctest.h>

#include <span>

#include "store/contract.h"
#include "store/corpus.h"

namespace contract_copy_test {

using namespace stoka;
using namespace stoka::store;

namespace {

using Texts = std::vector<std::string>;

Instant copied_at(int64_t ms) { return Instant(std::chrono::milliseconds(ms)); }

std::string joined(const Texts& texts) {
  std::string out;
  for (const std::string& text : texts) out += text + ",";
  return out;
}

std::string number(Instant instant) { return std::to_string(instant.time_since_epoch().count()); }

// All fields as text, so that one comparison is enough.
std::string shown(const Visitor& visitor) {
  std::string out = visitor.id + " '" + visitor.subject + "' [" + joined(visitor.interests) + "]";
  for (const HistoryEntry& reading : visitor.history) {
    out += " " + reading.slug + "@" + number(reading.at) + "=" + std::to_string(reading.scroll_pct);
  }
  return out + " " + number(visitor.first_seen) + "-" + number(visitor.last_seen);
}

std::string shown(const Session& session) {
  std::string out = session.id + " of " + session.visitor_id + " [" + joined(session.shown_slugs) +
                    "] [" + joined(session.explored_topics) + "] " + std::to_string(session.turns);
  for (const Exchange& exchange : session.exchanges) {
    out += " " + exchange.user + ">" + exchange.assistant + "(";
    for (const CitationRecord& cited : exchange.citations)
      out += cited.slug + "|" + cited.title + "|" + cited.quote + "|" + cited.url + ";";
    out += ")";
  }
  return out + " " + number(session.started_at) + "-" + number(session.last_active);
}

std::string all(Store& store) {
  std::string out;
  const auto visitors = store.visitors_after("", 1000);
  const auto sessions = store.sessions_after("", 1000);
  REQUIRE(visitors);
  REQUIRE(sessions);
  for (const Visitor& visitor : *visitors) out += shown(visitor) + "\n";
  for (const Session& session : *sessions) out += shown(session) + "\n";
  return out;
}

Visitor visitor(const std::string& name, const std::string& subject, int64_t first, int64_t last) {
  Visitor made;
  made.id = uuid(name);
  made.subject = subject;
  made.interests = {"of " + name, "x"};
  made.history = {{"page", copied_at(first), 10}, {"of-" + name, copied_at(last), 20}};
  made.first_seen = copied_at(first);
  made.last_seen = copied_at(last);
  return made;
}

Session session(const std::string& name, const std::string& visitor, int64_t start, int64_t last) {
  Session made;
  made.id = uuid(name);
  made.visitor_id = uuid(visitor);
  made.shown_slugs = {"both", "slug-" + std::to_string(last)};
  made.explored_topics = {"a", "b", "a"};
  made.turns = 3;
  made.exchanges = {
      {"question " + std::to_string(last), "answer", {{"both", "Both", "quote", "/both"}}}};
  made.started_at = copied_at(start);
  made.last_active = copied_at(last);
  return made;
}

Texts put(Store& store, const std::vector<Visitor>& visitors) {
  const auto ids = store.put_visitors(visitors);
  REQUIRE_MESSAGE(ids, (ids ? "" : ids.error().message));
  return *ids;
}

void put(Store& store, const std::vector<Session>& sessions) {
  const auto done = store.put_sessions(sessions);
  REQUIRE_MESSAGE(done, (done ? "" : done.error().message));
}

}  // namespace

TEST_CASE("visitors and sessions are listed by id in pages") {
  const ContractStore store;
  Texts expected_visitors, expected_sessions;
  for (const char* name : {"v5", "v1", "v4", "v2", "v3"}) {
    put(*store, {visitor(name, "", 1, 2)});
    put(*store, {session(std::string("s") + name[1], name, 1, 2)});
  }
  for (const char* digit : {"1", "2", "3", "4", "5"}) {
    expected_visitors.push_back(uuid(std::string("v") + digit));
    expected_sessions.push_back(uuid(std::string("s") + digit));
  }
  for (const size_t limit : {1U, 2U, 5U, 100U}) {
    Texts visitors, sessions;
    for (std::string last;;) {
      const auto next = store->visitors_after(last, limit);
      REQUIRE(next);
      CHECK(next->size() <= limit);
      if (next->empty()) break;
      for (const Visitor& found : *next) visitors.push_back(found.id);
      last = next->back().id;
    }
    for (std::string last;;) {
      const auto next = store->sessions_after(last, limit);
      REQUIRE(next);
      CHECK(next->size() <= limit);
      if (next->empty()) break;
      for (const Session& found : *next) sessions.push_back(found.id);
      last = next->back().id;
    }
    CHECK(visitors == expected_visitors);
    CHECK(sessions == expected_sessions);
  }
  CHECK(store->visitors_after("", 0)->empty());
  CHECK(store->sessions_after("", 0)->empty());
}

TEST_CASE("copied rows are returned unchanged, and copying them again changes nothing") {
  const ContractStore store;
  Visitor bare;
  bare.id = uuid("v3");
  Session empty;
  empty.id = uuid("s3");
  empty.visitor_id = bare.id;
  const std::vector<Visitor> visitors = {visitor("v1", "", 5, 9), visitor("v2", "auth|1", 6, 7),
                                         bare};
  const std::vector<Session> sessions = {session("s1", "v1", 5, 9), session("s2", "v2", 6, 7),
                                         empty};
  std::string expected;
  for (const Visitor& made : visitors) expected += shown(made) + "\n";
  for (const Session& made : sessions) expected += shown(made) + "\n";
  for (int time = 0; time < 3; ++time) {
    CHECK(put(*store, visitors) == Texts{uuid("v1"), uuid("v2"), uuid("v3")});
    put(*store, sessions);
    CHECK(all(*store) == expected);
  }
  CHECK(put(*store, std::vector<Visitor>()).empty());
  put(*store, std::vector<Session>());
  CHECK(all(*store) == expected);
}

TEST_CASE("of two rows the later active one is kept, with the readings and slugs of both") {
  const ContractStore store;
  Visitor early = visitor("v", "", 10, 20);
  early.interests = {"early"};
  early.history = {{"page", copied_at(11), 1}, {"other", copied_at(12), 2}};
  Visitor late = visitor("v", "auth|1", 15, 30);
  late.interests = {"late"};
  late.history = {{"page", copied_at(25), 3}};
  Session before = session("s", "v", 10, 20);
  before.turns = 5;
  Session after = session("s", "v", 15, 30);
  after.explored_topics = {"z"};
  Visitor visitor_then = late;
  visitor_then.first_seen = copied_at(10);
  visitor_then.history = {{"other", copied_at(12), 2}, {"page", copied_at(25), 3}};
  Session session_then = after;
  session_then.started_at = copied_at(10);
  session_then.turns = 5;
  for (const bool copied_is_later : {true, false}) {
    CAPTURE(copied_is_later);
    // Other ids, because the same store is used twice.
    const std::string suffix = copied_is_later ? "1" : "2";
    const auto renamed = [&](Visitor of) {
      of.id = uuid("v" + suffix);
      if (!of.subject.empty()) of.subject += suffix;
      return of;
    };
    const auto moved = [&](Session of) {
      of.id = uuid("s" + suffix);
      of.visitor_id = uuid("v" + suffix);
      return of;
    };
    put(*store, {renamed(copied_is_later ? early : late)});
    put(*store, {moved(copied_is_later ? before : after)});
    put(*store, {renamed(copied_is_later ? late : early)});
    put(*store, {moved(copied_is_later ? after : before)});
    session_then.shown_slugs =
        copied_is_later ? Texts{"both", "slug-20", "slug-30"} : Texts{"both", "slug-30", "slug-20"};
    CHECK(shown(store->visitor(uuid("v" + suffix))->value()) == shown(renamed(visitor_then)));
    CHECK(shown(store->session(uuid("s" + suffix))->value()) == shown(moved(session_then)));
  }
  CHECK(store->visitors_after("", 10)->size() == 2);
  CHECK(store->sessions_after("", 10)->size() == 2);
}

TEST_CASE("of two rows with the same activity time the stored one is kept") {
  const ContractStore store;
  Visitor known = visitor("v", "auth|1", 1, 5);
  Visitor copied = known;
  copied.subject = "";
  copied.interests = {"another"};
  copied.history[0].scroll_pct = 99;
  Session here = session("s", "v", 1, 5);
  Session there = here;
  there.explored_topics = {"another"};
  there.exchanges.clear();
  put(*store, {known});
  put(*store, {here});
  put(*store, {copied});
  put(*store, {there});
  CHECK(all(*store) == shown(known) + "\n" + shown(here) + "\n");
}

TEST_CASE("a turn after the copy continues the session") {
  const ContractStore store;
  put(*store, {visitor("v", "", 1, 5)});
  put(*store, {session("s", "v", 1, 5)});
  TurnRecord turn;
  turn.session_id = uuid("s");
  turn.visitor_id = uuid("v");
  turn.cited_slugs = {"new"};
  turn.at = copied_at(9);
  const auto now = store->commit_turn(turn);
  REQUIRE(now);
  CHECK(now->turns == 4);
  CHECK(now->shown_slugs == Texts{"both", "slug-5", "new"});
  put(*store, {visitor("v", "", 1, 5)});
  put(*store, {session("s", "v", 1, 5)});
  CHECK(shown(store->session(uuid("s"))->value()) == shown(*now));
}

TEST_CASE("a copied visitor is merged into the stored one with the same subject") {
  const ContractStore store;
  put(*store, {visitor("here", "auth|1", 10, 20), visitor("copy", "", 3, 4)});
  put(*store, {session("s1", "copy", 3, 4), session("s2", "here", 10, 20)});
  const std::vector<Visitor> copied = {visitor("else", "", 1, 2), visitor("copy", "auth|1", 5, 30)};
  for (int time = 0; time < 2; ++time) {
    CHECK(put(*store, copied) == Texts{uuid("else"), uuid("here")});
    CHECK_FALSE(store->visitor(uuid("copy"))->has_value());
    const Visitor owner = store->visitor(uuid("here"))->value();
    CHECK(owner.subject == "auth|1");
    CHECK(owner.interests == Texts{"of here", "x", "of copy"});
    CHECK(owner.history.size() == 3);
    CHECK((owner.first_seen == copied_at(3)));
    CHECK((owner.last_seen == copied_at(30)));
    CHECK(store->session(uuid("s1"))->value().visitor_id == uuid("here"));
  }
  const std::string before = all(*store);
  put(*store, copied);
  CHECK(all(*store) == before);
}

TEST_CASE("two copied visitors with the same subject become one") {
  const ContractStore store;
  const std::vector<Visitor> copied = {visitor("v1", "auth|1", 1, 2),
                                       visitor("v2", "auth|1", 3, 4)};
  CHECK(put(*store, copied) == Texts{uuid("v1"), uuid("v1")});
  CHECK(store->visitors_after("", 10)->size() == 1);
}

TEST_CASE("a row that cannot be merged is refused, and nothing of its batch is stored") {
  const ContractStore store;
  put(*store, {visitor("v", "one", 1, 2)});
  put(*store, {session("s", "v", 1, 2)});
  const std::string before = all(*store);
  const Visitor other_subject[] = {visitor("new", "", 1, 2), visitor("v", "two", 3, 4)};
  const auto visitors = store->put_visitors(other_subject);
  REQUIRE_FALSE(visitors);
  CHECK(visitors.error().kind == ErrorKind::data);
  CHECK(visitors.error().message.find(uuid("v")) != std::string::npos);
  const Session of_nobody[] = {session("s", "v", 1, 9), session("s2", "nobody", 1, 2)};
  const auto sessions = store->put_sessions(of_nobody);
  REQUIRE_FALSE(sessions);
  CHECK(sessions.error().kind == ErrorKind::data);
  CHECK(sessions.error().message.find(uuid("nobody")) != std::string::npos);
  CHECK(all(*store) == before);
}

}  // namespace contract_copy_test
