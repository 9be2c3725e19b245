// The native server that tests share if they do not stop it, and schemas on it.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>

#include "store/postgres/database.h"
#include "support/eventually.h"
#include "support/postgres.h"

namespace stoka::store::postgres {

inline const testing::PostgresServer& shared_server() {
  static const testing::PostgresServer one({"deadlock_timeout = 10ms", "max_connections = 60"});
  return one;
}

inline DatabaseAddress must_parse(const std::string& url) {
  auto address = DatabaseAddress::parse(url);
  REQUIRE_MESSAGE(address, (address ? "" : address.error().message));
  return *address;
}

inline std::unique_ptr<Connection> must_connect(const std::string& url) {
  auto connection = Connection::open(must_parse(url));
  REQUIRE_MESSAGE(connection, (connection ? "" : connection.error().message));
  return std::move(*connection);
}

template <class T>
T must(Result<T> result) {
  REQUIRE_MESSAGE(result, (result ? "" : result.error().message));
  return std::move(*result);
}
inline void must(const Result<>& result) {
  REQUIRE_MESSAGE(result, (result ? "" : result.error().message));
}

// "postgres://user:password@127.0.0.1:PORT/database".
inline std::string url_of(const std::string& user, const std::string& password,
                          const std::string& database = "stoka",
                          int port = shared_server().port()) {
  return "postgres://" + user + ":" + password + "@127.0.0.1:" + std::to_string(port) + "/" +
         database;
}

// A new schema on the shared server. Its connections have its name as application_name.
struct TestSchema {
  const std::string name;
  explicit TestSchema(DatabaseOptions wanted = {}) : name(next_name()), options(wanted) {
    sql("CREATE SCHEMA " + name + "; CREATE TABLE t (x BIGINT)");
  }
  std::string url(int port = shared_server().port()) const {
    return url_of("stoka", shared_server().password(), "stoka", port) +
           "?application_name=" + name + "&options=-csearch_path%3D" + name;
  }
  // Executes on a connection outside the pool; returns the first column of the first row.
  std::string sql(const std::string& statements) const {
    static const auto connection = must_connect(shared_server().url());
    const Rows rows = must(connection->run("SET search_path = " + name + "; " + statements));
    return rows.size() > 0 ? std::string(rows.text(0, 0)) : "";
  }
  Database& database() {
    if (!database_) database_ = must(Database::open(must_parse(url()), options));
    return *database_;
  }
  // Terminates the matching connections of this schema and waits for it.
  void terminate(const std::string& which = "true") const {
    sql("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = '" +
        name + "' AND " + which);
  }

  DatabaseOptions options;

 private:
  static std::string next_name() {
    static int last = 0;
    return "place" + std::to_string(++last);
  }
  std::unique_ptr<Database> database_;
};

inline Result<int64_t> backend(Connection& connection) {
  STOKA_ASSIGN(const Rows rows, connection.run("SELECT pg_backend_pid()"));
  return rows.integer(0, 0);
}

inline Result<> insert(Connection& connection, int64_t x) {
  STOKA_TRY(connection.run("INSERT INTO t VALUES ($1::bigint)", Params().integer(x)));
  return {};
}

inline int64_t count_rows(Database& database, int64_t x) {
  return must(database.read([&](Connection& connection) -> Result<int64_t> {
    STOKA_ASSIGN(const Rows rows, connection.run("SELECT count(*) FROM t WHERE x = $1::bigint",
                                                 Params().integer(x)));
    return rows.integer(0, 0);
  }));
}

using testing::eventually;

}  // namespace stoka::store::postgres
