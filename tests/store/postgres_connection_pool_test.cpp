// The connection pool of a Database and its queue of callers.
#include <doctest/doctest.h>

#include <atomic>
#include <latch>
#include <mutex>
#include <semaphore>
#include <set>
#include <thread>

#include "store/postgres/database.h"
#include "store/postgres_test_server.h"

namespace postgres_connection_pool_test {

using namespace stoka;
using namespace stoka::store::postgres;
using namespace std::chrono_literals;

namespace {

// The backend pids of three concurrent transactions.
std::set<int64_t> three_at_once(Database& database) {
  std::latch together(3);
  std::mutex mutex;
  std::set<int64_t> out;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      bool first = true;
      const auto pid = database.read([&](Connection& connection) {
        if (std::exchange(first, false)) together.arrive_and_wait();
        return backend(connection);
      });
      const std::lock_guard lock(mutex);
      if (pid) out.insert(*pid);
    });
  threads.clear();
  return out;
}

}  // namespace

TEST_CASE("callers do not notice that idle connections were lost") {
  TestSchema schema;
  Database& database = schema.database();
  int reads = 0, writes = 0;
  const std::set<int64_t> before = three_at_once(database);
  REQUIRE(before.size() == 3);
  schema.terminate();
  const int64_t after = must(database.read([&](Connection& connection) {
    ++reads;
    return backend(connection);
  }));
  CHECK(before.count(after) == 0);
  three_at_once(database);
  schema.terminate();
  must(database.write([&](Connection& connection) {
    ++writes;
    return insert(connection, 1);
  }));
  CHECK(count_rows(database, 1) == 1);
  CHECK(reads == 1);
  CHECK(writes == 1);
}

TEST_CASE("one lost connection closes the idle ones, and those in use when they are released") {
  TestSchema schema({.connections = 3});
  Database& database = schema.database();
  const std::set<int64_t> before = three_at_once(database);
  REQUIRE(before.size() == 3);
  schema.terminate("pid = " + std::to_string(*before.begin()));
  three_at_once(
      database);  // connections in use at the time of the loss finish their transactions first
  for (const int64_t pid : three_at_once(database)) CHECK(before.count(pid) == 0);
  const std::string idle_pid = std::to_string(*before.rbegin());
  CHECK(eventually([&] {
    return schema.sql("SELECT count(*) FROM pg_stat_activity WHERE pid = " + idle_pid) == "0";
  }));
}

TEST_CASE("more callers than connections all succeed, and no more connections are opened") {
  for (const size_t connections : {1, 3}) {
    CAPTURE(connections);
    TestSchema schema({.connections = connections, .max_wait = 60s});
    Database& database = schema.database();
    std::atomic<int64_t> max_open = 0, done = 0;
    std::vector<std::jthread> threads;
    for (int64_t i = 0; i < 20; ++i)
      threads.emplace_back([&, i] {
        const auto open = database.write([&](Connection& connection) -> Result<int64_t> {
          STOKA_TRY(insert(connection, i));
          STOKA_ASSIGN(const Rows rows,
                       connection.run("SELECT count(*) FROM pg_stat_activity WHERE "
                                      "application_name = current_setting('application_name')"));
          return rows.integer(0, 0);
        });
        if (!open) return;
        ++done;
        for (int64_t seen = max_open;
             *open > seen && !max_open.compare_exchange_weak(seen, *open);) {
        }
      });
    threads.clear();
    CHECK(done == 20);
    CHECK(max_open >= 1);
    CHECK(max_open <= static_cast<int64_t>(connections));
    CHECK(schema.sql("SELECT count(DISTINCT x) FROM t") == "20");
  }
}

TEST_CASE("a caller that waits too long, or finds the queue full, gets a busy error") {
  const auto while_connection_is_held = [](TestSchema& schema, const auto& meanwhile) {
    std::binary_semaphore holds(0), release(0);
    std::jthread holder([&] {
      must(schema.database().read([&](Connection&) -> Result<> {
        holds.release();
        release.acquire();
        return {};
      }));
    });
    holds.acquire();
    meanwhile();
    release.release();
  };
  TestSchema impatient({.connections = 1, .max_wait = 30ms});
  impatient.database();
  while_connection_is_held(impatient, [&] {
    const auto read = impatient.database().read(backend);
    REQUIRE_FALSE(read);
    CHECK(read.error().kind == ErrorKind::busy);
    CHECK(read.error().message.find(" is busy: no permit became free within") != std::string::npos);
  });
  must(impatient.database().read(backend));

  TestSchema crowded({.connections = 1, .max_waiting = 2, .max_wait = 60s});
  crowded.database();
  std::vector<std::jthread> waiting;
  std::atomic<int> served = 0;
  while_connection_is_held(crowded, [&] {
    for (int i = 0; i < 2; ++i)
      waiting.emplace_back([&] { served += crowded.database().read(backend).has_value(); });
    REQUIRE(eventually([&] { return crowded.database().waiting() == 2; }));
    const auto read = crowded.database().read(backend);
    REQUIRE_FALSE(read);
    CHECK(read.error().kind == ErrorKind::busy);
    CHECK(read.error().message.find("2 callers are waiting already") != std::string::npos);
  });
  waiting.clear();
  CHECK(served == 2);
}

TEST_CASE("a nested transaction on a pool of one connection gets a busy error and does not hang") {
  TestSchema schema({.connections = 1, .max_wait = 30ms});
  Database& database = schema.database();
  const auto nested =
      database.read([&](Connection&) -> Result<int64_t> { return database.read(backend); });
  REQUIRE_FALSE(nested);
  CHECK(nested.error().kind == ErrorKind::busy);
  must(database.read(backend));
}

TEST_CASE("a statement or lock that times out leaves the connection usable") {
  TestSchema schema({.connections = 1, .statement_timeout = 50ms});
  const int64_t before = must(schema.database().read(backend));
  const auto slow = schema.database().read([](Connection& connection) -> Result<> {
    STOKA_TRY(connection.run("SELECT pg_sleep(60)"));
    return {};
  });
  REQUIRE_FALSE(slow);
  CHECK(slow.error().kind == ErrorKind::timeout);
  CHECK(must(schema.database().read(backend)) == before);

  TestSchema locked({.lock_timeout = 50ms});
  const auto holder = must_connect(locked.url());
  must(holder->run("BEGIN; LOCK TABLE t"));
  const auto waited =
      locked.database().write([](Connection& connection) { return insert(connection, 1); });
  REQUIRE_FALSE(waited);
  CHECK(waited.error().kind == ErrorKind::busy);
  must(holder->run("ROLLBACK"));
  must(locked.database().write([](Connection& connection) { return insert(connection, 1); }));
}

TEST_CASE("a server at its connection limit gives a busy error, and is used again later") {
  TestSchema schema({.connections = 2, .connect_retry_delay = 0ms});
  const std::string role = "limited_" + schema.name;
  schema.sql("CREATE ROLE " + role + " LOGIN PASSWORD 'hush-hush' CONNECTION LIMIT 1");
  const auto database = must(Database::open(must_parse(url_of(role, "hush-hush")), schema.options));
  must(database->read([&](Connection&) -> Result<> {
    const auto second = database->read(backend);
    REQUIRE_FALSE(second);
    CHECK(second.error().kind == ErrorKind::busy);
    return {};
  }));
  must(database->read(backend));
}

}  // namespace postgres_connection_pool_test
