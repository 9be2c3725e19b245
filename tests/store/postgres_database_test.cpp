#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <latch>
#include <stdexcept>
#include <thread>

#include "store/postgres/database.h"
#include "store/postgres_proxy.h"
#include "store/postgres_test_server.h"

namespace postgres_database_test {

using namespace stoka;
using namespace stoka::store::postgres;
using stoka::testing::CommitProxy;
using namespace std::chrono_literals;
using namespace std::string_literals;

namespace {

Result<> raise(Connection& connection, const std::string& state) {
  STOKA_TRY(
      connection.run("DO $$BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '" + state + "'; END$$"));
  return {};
}

}  // namespace

TEST_CASE("a write is committed, and is rolled back if its work or a statement fails") {
  TestSchema schema;
  Database& database = schema.database();
  CHECK(must(database.write([](Connection& connection) -> Result<std::string> {
          STOKA_TRY(insert(connection, 1));
          return "done"s;
        })) == "done");
  CHECK(count_rows(database, 1) == 1);

  const auto refused = database.write([](Connection& connection) -> Result<int> {
    STOKA_TRY(insert(connection, 2));
    return fail(ErrorKind::not_found, "nothing of that name", "look");
  });
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == ErrorKind::not_found);
  CHECK(refused.error().message == "nothing of that name");
  CHECK(refused.error().hint == "look");

  const auto failed = database.write([](Connection& connection) -> Result<> {
    STOKA_TRY(insert(connection, 2));
    STOKA_TRY(connection.run("SELECT 1/0"));
    return {};
  });
  REQUIRE_FALSE(failed);
  CHECK(failed.error().kind == ErrorKind::data);
  CHECK(failed.error().message.find("division by zero") != std::string::npos);
  CHECK(count_rows(database, 2) == 0);
}

TEST_CASE("a read sees one snapshot and cannot write") {
  TestSchema schema;
  Database& database = schema.database();
  const auto count = [](Connection& connection) {
    return must(connection.run("SELECT count(*) FROM t")).integer(0, 0);
  };
  must(database.read([&](Connection& connection) -> Result<> {
    CHECK(count(connection) == 0);
    schema.sql("INSERT INTO t VALUES (1)");
    CHECK(count(connection) == 0);
    return {};
  }));
  const auto wrote = database.read([](Connection& connection) { return insert(connection, 2); });
  REQUIRE_FALSE(wrote);
  CHECK(wrote.error().message.find("read-only") != std::string::npos);
  CHECK(count_rows(database, 2) == 0);
}

TEST_CASE("a transaction has its timeouts and search path, and leaves no settings in the session") {
  TestSchema schema({.connections = 1, .statement_timeout = 1234ms, .lock_timeout = 0ms});
  Database& database = schema.database();
  schema.sql(
      "CREATE SCHEMA \"we\"\"ird, schema\"; CREATE TABLE \"we\"\"ird, schema\".there (x INT)");
  database.set_search_path({"we\"ird, schema", "public"});
  const char* show =
      "SELECT current_setting('statement_timeout'), current_setting('lock_timeout'), "
      "current_setting('idle_in_transaction_session_timeout'), current_setting('jit'), "
      "current_setting('transaction_isolation'), current_schemas(false)::text, "
      "(SELECT count(*) FROM there)";
  const auto check = [&](Connection& connection, const char* isolation,
                         const char* timeout) -> Result<> {
    STOKA_ASSIGN(const Rows rows, connection.run(show));
    CHECK(rows.text(0, 0) == timeout);
    CHECK(rows.text(0, 1) == "0");
    CHECK(rows.text(0, 2) == "1min");
    CHECK(rows.text(0, 3) == "off");
    CHECK(rows.text(0, 4) == isolation);
    CHECK(rows.text(0, 5) == "{\"we\\\"ird, schema\",public}");
    return {};
  };
  must(database.read([&](Connection& c) { return check(c, "repeatable read", "1234ms"); }));
  must(database.write([&](Connection& c) { return check(c, "read committed", "3702ms"); }));
  must(database.write([&](Connection& connection) -> Result<> {
    STOKA_TRY(
        connection.run("COMMIT"));  // ends the transaction: the settings are those of the session
    STOKA_ASSIGN(const Rows rows, connection.run("SELECT current_setting('statement_timeout'), "
                                                 "current_setting('search_path')"));
    CHECK(rows.text(0, 0) == "0");
    CHECK(rows.text(0, 1) == schema.name);
    return {};
  }));
}

TEST_CASE("opening an unavailable database fails at once") {
  const auto down = Database::open(must_parse(url_of("u", "p", "d", 1)), {});
  REQUIRE_FALSE(down);
  CHECK(down.error().kind == ErrorKind::unavailable);
  const auto refused = Database::open(must_parse(url_of("stoka", "wrong-one")), {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == ErrorKind::config);
}

TEST_CASE("a failed statement that the work ignores fails the transaction") {
  TestSchema schema;
  int calls = 0;
  const auto wrote = schema.database().write([&](Connection& connection) -> Result<> {
    ++calls;
    STOKA_TRY(insert(connection, 1));
    static_cast<void>(connection.run("SELECT nonsense"));
    return {};
  });
  REQUIRE_FALSE(wrote);
  CHECK(wrote.error().kind == ErrorKind::internal);
  CHECK(calls == 1);
  CHECK(count_rows(schema.database(), 1) == 0);
}

TEST_CASE("a transaction that fails at COMMIT gives an error and is not stored") {
  TestSchema schema({.connections = 1});
  schema.sql(
      "CREATE TABLE d (x INT PRIMARY KEY, y INT REFERENCES d DEFERRABLE INITIALLY DEFERRED)");
  const auto wrote = schema.database().write([](Connection& connection) -> Result<> {
    STOKA_TRY(connection.run("INSERT INTO d VALUES (1, 2)"));
    return {};
  });
  REQUIRE_FALSE(wrote);
  CHECK(wrote.error().kind == ErrorKind::data);
  must(schema.database().write([](Connection& connection) { return insert(connection, 1); }));
}

TEST_CASE("an exception of the work rolls back and returns the permit for a connection") {
  TestSchema schema({.connections = 1});
  CHECK_THROWS_AS(static_cast<void>(schema.database().write([](Connection& connection) -> Result<> {
                    STOKA_TRY(insert(connection, 1));
                    throw std::runtime_error("of another kind");
                  })),
                  std::runtime_error);
  CHECK(count_rows(schema.database(), 1) == 0);
}

TEST_CASE("a transaction whose connection is lost runs once more, and its writes are stored once") {
  TestSchema schema;
  Database& database = schema.database();
  enum class Then { fails, goes_on, ends };  // what the work does after the loss
  struct {
    const char* name;
    bool write;
    Then then;
    int calls;
  } const cases[] = {
      {"in a read", false, Then::fails, 2},
      {"in a read that does not look", false, Then::goes_on, 2},
      {"after the last statement of a read, which is whole", false, Then::ends, 1},
      {"in a write", true, Then::fails, 2},
      {"in a write that does not look", true, Then::goes_on, 2},
      {"after the last statement of a write", true, Then::ends, 2},
  };
  int64_t x = 0;
  for (const auto& [name, write, then, expected] : cases) {
    CAPTURE(name);
    int calls = 0;
    ++x;
    const auto work = [&](Connection& connection) -> Result<> {
      if (write) STOKA_TRY(insert(connection, x));
      if (++calls == 1) schema.terminate();
      if (then == Then::ends) return {};
      const auto next = backend(connection);
      if (!next && then == Then::fails) return fail(next.error());
      return {};
    };
    must(write ? database.write(work) : database.read(work));
    CHECK(calls == expected);
    CHECK(count_rows(database, x) == (write ? 1 : 0));
  }
}

TEST_CASE("a transaction whose connection is lost twice fails, and nothing is stored") {
  TestSchema schema;
  int calls = 0;
  const auto wrote = schema.database().write([&](Connection& connection) -> Result<> {
    ++calls;
    STOKA_TRY(insert(connection, 1));
    schema.terminate();
    return insert(connection, 1);
  });
  REQUIRE_FALSE(wrote);
  CHECK(wrote.error().kind == ErrorKind::unavailable);
  CHECK(calls == 2);
  CHECK(count_rows(schema.database(), 1) == 0);
}

TEST_CASE(
    "the outcome of an in-doubt COMMIT is found out, and its writes are stored exactly once") {
  TestSchema schema({.max_in_doubt_wait = 60s});
  CommitProxy proxy(shared_server().port());
  const auto through = must(Database::open(must_parse(schema.url(proxy.port())), schema.options));
  Database& database = *through;
  struct {
    const char* name;
    CommitProxy::Cut cut;
    int calls;
  } const cases[] = {{"it was not done", CommitProxy::Cut::before, 2},
                     {"it was done", CommitProxy::Cut::after, 1},
                     {"it is not clear yet", CommitProxy::Cut::held_until_queried, 2}};
  int64_t x = 0;
  for (const auto& [name, cut, calls] : cases) {
    CAPTURE(name);
    const int cuts = proxy.cuts();
    int called = 0;
    ++x;
    proxy.cut(cut);
    CHECK(must(database.write([&](Connection& connection) -> Result<int> {
            STOKA_TRY(insert(connection, x));
            return ++called;
          })) == calls);
    CHECK(called == calls);
    CHECK(proxy.cuts() == cuts + 1);
    CHECK(count_rows(schema.database(), x) == 1);
  }
  // A read succeeds even if its COMMIT is lost.
  for (const auto cut : {CommitProxy::Cut::before, CommitProxy::Cut::after}) {
    proxy.cut(cut);
    CHECK(count_rows(database, 1) == 1);
  }
}

TEST_CASE("the error says so when the status of an in-doubt COMMIT cannot be found out") {
  for (const auto cut : {CommitProxy::Cut::held, CommitProxy::Cut::held_and_refusing}) {
    TestSchema schema({.max_in_doubt_wait = 200ms});
    CommitProxy proxy(shared_server().port());
    const auto database =
        must(Database::open(must_parse(schema.url(proxy.port())), schema.options));
    int calls = 0;
    proxy.cut(cut);
    const auto wrote = database->write([&](Connection& connection) {
      ++calls;
      return insert(connection, 1);
    });
    REQUIRE_FALSE(wrote);
    CHECK(wrote.error().kind == ErrorKind::unavailable);
    CHECK(wrote.error().message.starts_with("it is not known whether it was stored"));
    CHECK(wrote.error().hint.find("check whether it is stored") != std::string::npos);
    CHECK(calls == 1);
  }
}

TEST_CASE("a transaction that loses its COMMIT twice fails, and nothing is stored") {
  TestSchema schema;
  CommitProxy proxy(shared_server().port());
  const auto database = must(Database::open(must_parse(schema.url(proxy.port())), schema.options));
  proxy.cut(CommitProxy::Cut::before, 2);
  const auto wrote = database->write([](Connection& connection) { return insert(connection, 1); });
  REQUIRE_FALSE(wrote);
  CHECK(wrote.error().kind == ErrorKind::unavailable);
  CHECK(wrote.error().message.find("not known") == std::string::npos);
  CHECK(count_rows(*database, 1) == 0);
}

TEST_CASE("a transaction that conflicts runs three times in all") {
  TestSchema schema({.connections = 1});
  struct {
    const char* state;
    int conflicts;
    bool swallowed;  // the work ignores the conflict and fails for another reason
    bool kept;
  } const cases[] = {{"40001", 1, false, true},  {"40001", 2, false, true},
                     {"40001", 3, false, false}, {"40P01", 2, false, true},
                     {"40P01", 3, false, false}, {"40001", 2, true, true},
                     {"23505", 1, false, false}};
  int64_t x = 0;
  for (const auto& [state, conflicts, swallowed, kept] : cases) {
    CAPTURE(state);
    CAPTURE(conflicts);
    int calls = 0;
    ++x;
    const auto wrote = schema.database().write([&](Connection& connection) -> Result<> {
      STOKA_TRY(insert(connection, x));
      if (++calls > conflicts) return {};
      const Result<> raised = raise(connection, state);
      return swallowed ? insert(connection, x) : raised;
    });
    CHECK(wrote.has_value() == kept);
    const bool conflict = state[0] == '4';
    CHECK(calls == (conflict ? std::min(conflicts + 1, 3) : 1));
    if (!kept) CHECK(wrote.error().kind == (conflict ? ErrorKind::busy : ErrorKind::data));
    CHECK(count_rows(schema.database(), x) == (kept ? 1 : 0));
  }
}

TEST_CASE("both transactions of a deadlock succeed") {
  TestSchema schema({.lock_timeout = 60s});
  schema.sql("INSERT INTO t VALUES (1), (2); ALTER TABLE t ADD n BIGINT DEFAULT 0");
  Database& database = schema.database();
  std::latch both(2);
  std::atomic<int> calls = 0;
  std::atomic<bool> done = false;
  const auto change = [&](int64_t first, int64_t second) {
    bool met = false;
    const auto changed = database.write([&](Connection& connection) -> Result<> {
      ++calls;
      const auto add = [&](int64_t x) {
        return connection.run("UPDATE t SET n = n + 1 WHERE x = $1::bigint", Params().integer(x));
      };
      if (met) done.wait(false);  // so that they do not deadlock again
      STOKA_TRY(add(first));
      if (!std::exchange(met, true)) both.arrive_and_wait();
      STOKA_TRY(add(second));
      return {};
    });
    done = true;
    done.notify_all();
    CHECK(changed);
  };
  std::jthread other([&] { change(2, 1); });
  change(1, 2);
  other.join();
  CHECK(schema.sql("SELECT min(n) || ' ' || max(n) FROM t") == "2 2");
  CHECK(calls == 3);
}

TEST_CASE("a read-only database can be read, and writes get an error that says so") {
  TestSchema schema;
  schema.sql("INSERT INTO t VALUES (1)");
  const auto database = must(
      Database::open(must_parse(schema.url() + "%20-cdefault_transaction_read_only%3Don"), {}));
  CHECK(count_rows(*database, 1) == 1);
  const auto wrote = database->write([](Connection& connection) { return insert(connection, 2); });
  REQUIRE_FALSE(wrote);
  CHECK(wrote.error().kind == ErrorKind::unavailable);
  CHECK(wrote.error().message.find("is read-only") != std::string::npos);
  CHECK(wrote.error().hint.find("target_session_attrs=read-write") != std::string::npos);
}

}  // namespace postgres_database_test
