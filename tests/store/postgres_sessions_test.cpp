#include <doctest/doctest.h>

#include <functional>
#include <set>
#include <thread>

#include "store/corpus.h"
#include "store/open.h"
#include "support/postgres.h"

namespace postgres_sessions_test {

using namespace stoka;
using namespace stoka::store;
using testing::TestDatabase;

namespace {

const std::string kSubject = "6f1ed002-ab59-4ef8-8f4b-6a1cf3b4a9a1";

std::unique_ptr<Store> must_open(const std::string& url) {
  auto store = store::open(url, OpenMode::read_write);
  REQUIRE_MESSAGE(store, (store ? "" : store.error().message));
  return std::move(*store);
}

Instant at(int64_t ms) { return Instant(std::chrono::milliseconds(ms)); }

TurnRecord turn(const std::string& session, const std::string& visitor, int64_t ms) {
  TurnRecord record;
  record.session_id = uuid(session);
  record.visitor_id = uuid(visitor);
  record.cited_slugs = {"slug-" + std::to_string(ms)};
  record.topic = "topic-" + std::to_string(ms);
  record.exchange = {"question " + std::to_string(ms), "answer", {{record.cited_slugs[0]}}};
  record.at = at(ms);
  return record;
}

// Runs work(i) for each i concurrently; returns the errors.
std::vector<std::string> at_once(int threads, const std::function<std::string(int)>& work) {
  std::vector<std::string> wrong(static_cast<size_t>(threads));
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&, i] { wrong[static_cast<size_t>(i)] = work(i); });
  }
  for (std::thread& thread : running) thread.join();
  std::erase(wrong, "");
  return wrong;
}

std::string complaint(const auto& result) { return result ? "" : result.error().message; }

std::set<std::string> as_set(const std::vector<std::string>& list) {
  return {list.begin(), list.end()};
}

}  // namespace

TEST_CASE(
    "fifty concurrent turns of a new session, from two stores, are all stored in one session") {
  const TestDatabase database;
  const int threads = TestDatabase::has_many_backends() ? 50 : 5;
  const auto one = must_open(database.url());
  const auto two = must_open(database.url());
  const auto wrong = at_once(threads, [&](int i) {
    return complaint((i % 2 ? *one : *two).commit_turn(turn("s", i % 3 ? "v" : "w", i)));
  });
  CHECK(wrong == std::vector<std::string>{});
  const auto session = *one->session(uuid("s"));
  REQUIRE(session);
  CHECK(session->turns == threads);
  CHECK(as_set(session->shown_slugs).size() == static_cast<size_t>(threads));
  CHECK(session->shown_slugs.size() == static_cast<size_t>(threads));
  CHECK(session->explored_topics.size() == static_cast<size_t>(threads));
  // Topics and exchanges are in the same order.
  const size_t last = session->exchanges.size();
  for (size_t i = 0; i < last; ++i) {
    const std::string& topic = session->explored_topics[session->explored_topics.size() - last + i];
    CHECK(session->exchanges[i].user == "question " + topic.substr(6));
  }
}

TEST_CASE("ten visitors that get the same subject concurrently become one visitor") {
  const TestDatabase database;
  const int people = TestDatabase::has_many_backends() ? 10 : 4;
  const auto one = must_open(database.url());
  const auto two = must_open(database.url());
  const auto named = [](const char* what, int i) { return what + std::to_string(i); };
  for (int i = 0; i < people; ++i) {
    REQUIRE(one->commit_turn(turn(named("old", i), named("v", i), i)));
    const HistoryEntry read[] = {{named("page", i), at(i), 100}};
    REQUIRE(one->update_visitor(uuid(named("v", i)), std::vector{named("topic", i)}, read, at(i)));
  }
  const auto wrong = at_once(people, [&](int i) {
    Store& store = i % 2 ? *one : *two;
    TurnRecord record = turn(named("new", i), named("v", i), 100 + i);
    record.subject = kSubject;
    std::string error = complaint(store.commit_turn(record));
    // A turn with the subject does not create an absorbed visitor again.
    if (error.empty()) error = complaint(store.commit_turn(record));
    return error;
  });
  CHECK(wrong == std::vector<std::string>{});
  const auto visitors = one->visitors_after("", 100);
  REQUIRE(visitors);
  REQUIRE(visitors->size() == 1);
  const Visitor& visitor = visitors->front();
  CHECK(visitor.subject == kSubject);
  CHECK(visitor.interests.size() == static_cast<size_t>(people));
  CHECK(visitor.history.size() == static_cast<size_t>(people));
  const auto sessions = one->sessions_after("", 100);
  REQUIRE(sessions);
  CHECK(sessions->size() == static_cast<size_t>(2 * people));
  int turns = 0;
  for (const Session& session : *sessions) {
    CHECK(session.visitor_id == visitor.id);
    turns += session.turns;
  }
  CHECK(turns == 3 * people);
}

TEST_CASE("concurrent turns, updates and copies of the same new visitors lose nothing") {
  const TestDatabase database;
  const int visitors = TestDatabase::has_many_backends() ? 6 : 2;
  const auto one = must_open(database.url());
  const auto two = must_open(database.url());
  // Long enough for concurrent transactions to find no visitor.
  if (TestDatabase::has_many_backends()) {
    database.sql(
        "CREATE FUNCTION slow() RETURNS TRIGGER LANGUAGE plpgsql AS "
        "$$ BEGIN PERFORM pg_sleep(0.03); RETURN NEW; END $$; CREATE TRIGGER slow "
        "BEFORE INSERT ON stoka_visitors FOR EACH ROW EXECUTE FUNCTION slow()");
  }
  const auto wrong = at_once(3 * visitors, [&](int i) {
    Store& store = i % 2 ? *one : *two;
    const std::string visitor = "v" + std::to_string(i / 3);
    const HistoryEntry read[] = {{"page-" + std::to_string(i), at(i), 100}};
    if (i % 3 == 0) return complaint(store.commit_turn(turn(visitor, visitor, i)));
    if (i % 3 == 1) return complaint(store.update_visitor(uuid(visitor), {}, read, at(i)));
    Visitor copied;
    copied.id = uuid(visitor);
    copied.history.assign(std::begin(read), std::end(read));
    return complaint(store.put_visitors(std::span(&copied, 1)));
  });
  CHECK(wrong == std::vector<std::string>{});
  const auto kept = one->visitors_after("", 10);
  REQUIRE(kept);
  CHECK(kept->size() == static_cast<size_t>(visitors));
  for (const Visitor& visitor : *kept) CHECK(visitor.history.size() == 2);
  const auto sessions = one->sessions_after("", 10);
  REQUIRE(sessions);
  CHECK(sessions->size() == static_cast<size_t>(visitors));
}

TEST_CASE("a visitor that gets a subject during concurrent writes loses nothing") {
  if (!TestDatabase::has_many_backends()) return;
  const TestDatabase database;
  const int people = 5;
  const auto one = must_open(database.url());
  const auto two = must_open(database.url());
  const auto named = [](const char* what, int i) { return what + std::to_string(i); };
  const auto subject = [](int i) { return "auth|" + std::to_string(i); };
  // Every person has a visitor with a subject, and an anonymous one.
  for (int i = 0; i < people; ++i) {
    TurnRecord known = turn(named("home", i), named("known", i), 1);
    known.subject = subject(i);
    REQUIRE(one->commit_turn(known));
    REQUIRE(one->commit_turn(turn(named("way", i), named("new", i), 1)));
    const HistoryEntry read[] = {{"read on the way", at(1), 100}};
    REQUIRE(one->update_visitor(uuid(named("new", i)), {}, read, at(1)));
  }
  // A delay between reading and writing lets another change come between.
  database.sql(
      "CREATE FUNCTION slow() RETURNS TRIGGER LANGUAGE plpgsql AS "
      "$$ BEGIN PERFORM pg_sleep(0.05); RETURN NEW; END $$; CREATE TRIGGER slow BEFORE INSERT "
      "ON stoka_visitors FOR EACH ROW EXECUTE FUNCTION slow(); CREATE TRIGGER slow BEFORE INSERT "
      "ON stoka_sessions FOR EACH ROW WHEN (NEW.turns > 1) EXECUTE FUNCTION slow()");
  const auto wrong = at_once(3 * people, [&](int n) {
    const int i = n / 3;
    Store& store = n % 2 ? *one : *two;
    const HistoryEntry read[] = {{"read at home", at(2), 100}};
    if (n % 3 == 0)  // the visitor with the subject reads
      return complaint(store.update_visitor(uuid(named("known", i)), {}, read, at(2)));
    if (n % 3 == 1)  // a turn in a session of the absorbed visitor names a third one
      return complaint(store.commit_turn(turn(named("way", i), named("third", i), 2)));
    TurnRecord known = turn(named("here", i), named("new", i), 2);
    known.subject = subject(i);
    return complaint(store.commit_turn(known));
  });
  CHECK(wrong == std::vector<std::string>{});
  for (int i = 0; i < people; ++i) {
    CHECK_FALSE(one->visitor(uuid(named("new", i)))->has_value());
    const auto known = one->visitor(uuid(named("known", i)));
    REQUIRE(known);
    REQUIRE(known->has_value());
    CHECK((*known)->history.size() == 2);
    for (const char* session : {"home", "way", "here"}) {
      CHECK(one->session(uuid(named(session, i)))->value().visitor_id == uuid(named("known", i)));
    }
    CHECK(one->session(uuid(named("way", i)))->value().turns == 2);
  }
}

TEST_CASE("a turn is stored exactly once if its backend is killed meanwhile") {
  if (!TestDatabase::has_many_backends()) return;
  struct {
    const char* when;
    std::string trigger;
  } const cases[] = {
      {"before the session is written", "CREATE TRIGGER die BEFORE INSERT ON stoka_sessions"},
      {"after it was written", "CREATE TRIGGER die AFTER INSERT ON stoka_sessions"},
      {"while it commits",
       "CREATE CONSTRAINT TRIGGER die AFTER INSERT ON stoka_sessions DEFERRABLE INITIALLY "
       "DEFERRED"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.when);
    const TestDatabase database;
    const auto store = must_open(database.url());
    // A sequence is not rolled back with its transaction.
    database.sql(
        "CREATE SEQUENCE deaths; CREATE FUNCTION die() RETURNS TRIGGER LANGUAGE plpgsql AS $$ "
        "BEGIN "
        "IF nextval('deaths') = 1 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF; "
        "RETURN NEW; END $$; " +
        c.trigger + " FOR EACH ROW EXECUTE FUNCTION die()");
    TurnRecord record = turn("s", "v", 1);
    record.subject = kSubject;
    const auto session = store->commit_turn(record);
    REQUIRE_MESSAGE(session, (session ? "" : session.error().message));
    CHECK(database.sql("SELECT last_value FROM deaths") == "2");
    CHECK(session->turns == 1);
    CHECK(store->session(uuid("s"))->value().turns == 1);
    CHECK(store->visitors_after("", 10)->size() == 1);
    REQUIRE(store->commit_turn(turn("s", "v", 2)));
    CHECK(store->session(uuid("s"))->value().turns == 2);
  }
}

TEST_CASE("a subject in auth.users is linked, and turns with an unknown one succeed") {
  const TestDatabase database;
  const auto store = must_open(database.url());
  // Like auth.users of Supabase.
  database.sql(
      "CREATE TABLE users (id UUID PRIMARY KEY); ALTER TABLE stoka_visitors "
      "ADD FOREIGN KEY (supabase_uid) REFERENCES users (id) ON DELETE SET NULL");
  const auto uid = [&] { return database.sql("SELECT supabase_uid FROM stoka_visitors"); };
  TurnRecord record = turn("s", "v", 1);
  record.subject = kSubject;
  const auto first = store->commit_turn(record);
  REQUIRE_MESSAGE(first, (first ? "" : first.error().message));
  CHECK(uid() == "");
  CHECK(store->visitor(uuid("v"))->value().subject == kSubject);
  CHECK(store->session(uuid("s"))->value().turns == 1);
  database.sql("INSERT INTO users VALUES ('" + kSubject + "')");
  REQUIRE(store->commit_turn(record));
  CHECK(uid() == kSubject);
  // Another turn without the subject; then the user is deleted.
  REQUIRE(store->commit_turn(turn("s", "v", 2)));
  CHECK(uid() == kSubject);
  database.sql("DELETE FROM users");
  REQUIRE(store->commit_turn(record));
  CHECK(uid() == "");
  CHECK(store->session(uuid("s"))->value().turns == 4);
  record = turn("s2", "w", 3);
  record.subject = "auth0|1";
  REQUIRE(store->commit_turn(record));
  CHECK(store->visitor(uuid("w"))->value().subject == "auth0|1");
}

TEST_CASE("SQL in every field of a turn is treated as text") {
  const TestDatabase database;
  const auto store = must_open(database.url());
  const std::string nasty = "'; DROP TABLE stoka_sessions; -- $1 \\ \" {NULL,\"x\"} \\u0000";
  TurnRecord record = turn("s", "v", 1);
  record.subject = record.topic = nasty;
  record.cited_slugs = {nasty, "NULL", ""};
  record.exchange = {nasty, nasty, {{nasty, nasty, nasty, nasty}}};
  REQUIRE(store->commit_turn(record));
  const HistoryEntry read[] = {{nasty, at(2), 100}};
  REQUIRE(store->update_visitor(uuid("v"), std::vector{nasty, std::string("NULL")}, read, at(2)));
  const auto session = *store->session(uuid("s"));
  REQUIRE(session);
  CHECK(session->shown_slugs == record.cited_slugs);
  CHECK(session->explored_topics == std::vector{nasty});
  CHECK(session->exchanges.at(0).assistant == nasty);
  CHECK(session->exchanges.at(0).citations == record.exchange.citations);
  const auto visitor = *store->visitor(uuid("v"));
  REQUIRE(visitor);
  CHECK(visitor->subject == nasty);
  CHECK(visitor->interests == std::vector{nasty, std::string("NULL")});
  CHECK(visitor->history.at(0).slug == nasty);
  CHECK(as_set(*store->all_shown_slugs()) == as_set(record.cited_slugs));

  for (const std::string& id : {nasty, std::string(), std::string("NULL")}) {
    CHECK_FALSE(store->session(id)->has_value());
    CHECK_FALSE(store->visitor(id)->has_value());
    TurnRecord bad = record;
    bad.session_id = id;
    const auto refused = store->commit_turn(bad);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == ErrorKind::usage);
  }
  const auto no_visitors = store->visitors_after(nasty, 5);
  REQUIRE_FALSE(no_visitors);
  CHECK(no_visitors.error().kind == ErrorKind::usage);
  const auto no_sessions = store->sessions_after(nasty, 5);
  REQUIRE_FALSE(no_sessions);
  CHECK(no_sessions.error().kind == ErrorKind::usage);
  CHECK(store->visitors_after("", 5)->size() == 1);
}

TEST_CASE("sessions of the first schema version, and rows with NULLs, are read and continued") {
  const TestDatabase database;
  const auto store = must_open(database.url());
  database.sql(
      "INSERT INTO stoka_visitors (id, interests, reading_history, first_seen, last_seen) VALUES "
      "('" +
      uuid("v") + "', NULL, NULL, NULL, NULL); INSERT INTO stoka_visitors (id) VALUES ('" +
      uuid("w") +
      "'); INSERT INTO stoka_sessions (id, visitor_id, shown_slugs, explored_topics, turns, "
      "last_exchange, started_at, last_active) VALUES ('" +
      uuid("s") + "', NULL, NULL, ARRAY['a', NULL, 'b'], NULL, NULL, NULL, NULL), ('" + uuid("t") +
      "', '" + uuid("w") +
      "', '{}', '{}', 3, "
      "'{\"user\": \"asked\", \"assistant\": \"answered\"}', now(), now())");
  const auto visitor = *store->visitor(uuid("v"));
  REQUIRE(visitor);
  CHECK(visitor->interests.empty());
  CHECK(visitor->history.empty());
  const auto bare = *store->session(uuid("s"));
  REQUIRE(bare);
  CHECK(bare->visitor_id == "");
  CHECK(bare->explored_topics == std::vector<std::string>{"a", "b"});
  CHECK(bare->turns == 0);
  const auto seed = *store->session(uuid("t"));
  REQUIRE(seed);
  REQUIRE(seed->exchanges.size() == 1);
  CHECK(seed->exchanges[0].user == "asked");
  CHECK(seed->exchanges[0].assistant == "answered");

  // A session without a visitor cannot be copied.
  CHECK(store->sessions_after("", 10)->size() == 1);

  const auto after = store->commit_turn(turn("s", "v", 1));
  REQUIRE_MESSAGE(after, (after ? "" : after.error().message));
  CHECK(after->visitor_id == uuid("v"));
  CHECK(store->commit_turn(turn("t", "w", 2))->turns == 4);
  CHECK(store->session(uuid("t"))->value().exchanges.size() == 2);
  CHECK(store->sessions_after("", 10)->size() == 2);
  CHECK(store->all_shown_slugs() == std::vector<std::string>{"slug-1", "slug-2"});
}

}  // namespace postgres_sessions_test
