// A server that restarts or crashes while it is in use.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <thread>

#include "store/postgres/database.h"
#include "store/postgres_proxy.h"
#include "store/postgres_test_server.h"

namespace postgres_restart_test {

using namespace stoka;
using namespace stoka::store::postgres;
using stoka::testing::CommitProxy;
using namespace std::chrono_literals;

namespace {

testing::PostgresServer& server() {
  // Only COMMIT flushes the WAL, and nobody else uses transaction ids.
  static testing::PostgresServer one({"wal_writer_delay = 10s", "autovacuum = off"});
  one.start();
  return one;
}

// The writes of all threads of a test, by result.
struct Writes {
  std::mutex mutex;
  std::set<int64_t> kept, unknown;
  std::set<ErrorKind> kinds;
  std::atomic<int64_t> failed = 0, next = 0;

  void one(Database& database) {
    const int64_t x = ++next;
    const auto wrote = database.write([&](Connection& connection) -> Result<> {
      STOKA_TRY(connection.run("INSERT INTO t VALUES ($1::bigint)", Params().integer(x)));
      return {};
    });
    const std::lock_guard lock(mutex);
    if (wrote) {
      kept.insert(x);
      return;
    }
    ++failed;
    kinds.insert(wrote.error().kind);
    if (wrote.error().message.find("not known") != std::string::npos) unknown.insert(x);
  }
  size_t size() {
    const std::lock_guard lock(mutex);
    return kept.size();
  }
};

}  // namespace

TEST_CASE(
    "after a restart or crash the server is used again, and each write is stored once or fails") {
  server().sql("CREATE TABLE t (x BIGINT)");
  const auto database = must(Database::open(
      must_parse(server().url()), {.connect_retry_delay = 1ms, .max_in_doubt_wait = 60s}));
  Writes writes;
  std::atomic<bool> ends = false;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 5; ++i)
    threads.emplace_back([&] {
      while (!ends) writes.one(*database);
    });
  for (const bool crash : {false, true}) {
    CAPTURE(crash);
    const auto some_more = [&, before = writes.size()] { return writes.size() > before + 50; };
    REQUIRE(eventually(some_more));
    const int64_t failed = writes.failed;
    crash ? server().kill() : server().stop();
    CHECK(eventually([&] { return writes.failed > failed; }));
    server().start();
    CHECK(eventually([&, before = writes.size()] { return writes.size() > before + 50; }));
  }
  ends = true;
  threads.clear();

  // Every failed write failed because the server was down.
  for (const ErrorKind kind : writes.kinds) CHECK(kind == ErrorKind::unavailable);
  const Rows rows = must(database->read([](Connection& connection) {
    return connection.run("SELECT x, count(*) FROM t GROUP BY x");
  }));
  std::set<int64_t> stored;
  for (size_t i = 0; i < rows.size(); ++i) {
    stored.insert(rows.integer(i, 0));
    CHECK(rows.integer(i, 1) == 1);
  }
  for (const int64_t x : writes.kept) CHECK(stored.count(x) == 1);
  for (const int64_t x : stored) CHECK((writes.kept.count(x) == 1 || writes.unknown.count(x) == 1));
}

TEST_CASE("callers do not notice a restart between two transactions") {
  const auto database = must(Database::open(must_parse(server().url()), {}));
  for (const bool crash : {false, true}) {
    CAPTURE(crash);
    const int64_t before = must(database->read(backend));
    crash ? server().kill() : server().stop();
    server().start();
    CHECK(must(database->read(backend)) != before);
  }
}

TEST_CASE("after a refused connection callers get the same error without a new attempt") {
  const auto patient = must(
      Database::open(must_parse(server().url()), {.connect_retry_delay = std::chrono::hours(1)}));
  const auto eager = must(Database::open(must_parse(server().url()), {.connect_retry_delay = 0ms}));
  server().stop();
  const auto refused = patient->read(backend);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == ErrorKind::unavailable);
  CHECK(refused.error().message.find("Connection refused") != std::string::npos);
  CHECK_FALSE(eager->read(backend));
  server().start();
  const auto again = patient->read(backend);
  REQUIRE_FALSE(again);
  CHECK(again.error().message == refused.error().message);
  CHECK(eager->read(backend));
}

TEST_CASE("a reused transaction id after a crash is not taken for a committed transaction") {
  for (const bool taken : {false, true}) {
    CAPTURE(taken);
    server().sql("DROP TABLE IF EXISTS t; CREATE TABLE t (x BIGINT)");
    CommitProxy proxy(server().port());
    const auto database =
        must(Database::open(must_parse(url_of("stoka", server().password(), "stoka", proxy.port())),
                            {.max_in_doubt_wait = 60s}));
    int calls = 0;
    Result<> wrote;
    std::atomic<int64_t> xid = 0;
    proxy.cut(CommitProxy::Cut::held_and_refusing);
    std::jthread writer([&] {
      wrote = database->write([&](Connection& connection) -> Result<> {
        ++calls;
        STOKA_TRY(connection.run("INSERT INTO t VALUES (1)"));
        STOKA_ASSIGN(const Rows rows, connection.run("SELECT pg_current_xact_id()::text::bigint"));
        xid = rows.integer(0, 0);
        return {};
      });
    });
    REQUIRE(eventually([&] { return proxy.cuts() == 1; }));
    server().kill();
    server().start();
    const int64_t lost = xid;
    for (int64_t next = 0; taken && next <= lost;)
      next = std::stoll(server().sql("SELECT pg_current_xact_id()"));
    proxy.admit();
    writer.join();
    CHECK(wrote.has_value() == !taken);
    CHECK(calls == (taken ? 1 : 2));
    CHECK(server().sql("SELECT count(*) FROM t") == (taken ? "0" : "1"));
    if (taken) CHECK(wrote.error().message.find("not known") != std::string::npos);
  }
}

}  // namespace postgres_restart_test
