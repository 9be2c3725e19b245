// PostgreSQL servers for tests.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace stoka::testing {

// A temporary server: native PostgreSQL on a free port of 127.0.0.1, with its data in a temporary
// folder. It is stopped and removed when the object is destroyed or the test program ends for any
// reason. It requires a password (scram-sha-256); its superuser is "stoka".
class PostgresServer {
 public:
  // `settings` are lines of postgresql.conf. Throws if PostgreSQL is not installed.
  explicit PostgresServer(const std::vector<std::string>& settings = {});
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;

  bool has_vector() const;  // whether pgvector is installed
  int port() const;
  std::string password() const;
  // "postgres://stoka:PASSWORD@127.0.0.1:PORT/DATABASE"
  std::string url(const std::string& database = "stoka") const;

  void stop();   // "fast" mode: disconnects all clients
  void kill();   // SIGKILL to the postmaster and its children, like a crash
  void start();  // after stop() or kill(), on the same port
  // Executes statements as superuser with psql, which is independent of the tested code. Returns
  // the rows, with columns separated by "|", without the last newline. Throws the message of psql.
  std::string sql(const std::string& statements, const std::string& database = "stoka") const;

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

// An empty schema on the server with pgvector that all tests of a program share: the one at
// STOKA_TEST_DB_URL, else a PostgresServer, else PGlite (WebAssembly). It is started on first use.
class TestDatabase {
 public:
  enum class Kind { given, native, wasm };
  static Kind kind();
  // PGlite has a single backend: no concurrent transactions, timeouts or terminated connections.
  static bool has_many_backends() { return kind() != Kind::wasm; }

  // Creates the schema; the destructor drops it.
  TestDatabase();
  ~TestDatabase();
  TestDatabase(const TestDatabase&) = delete;

  const std::string& url() const { return url_; }  // with the schema as search path
  const std::string& schema() const { return schema_; }
  std::string sql(const std::string& statements) const;  // with psql, in that schema

 private:
  std::string url_;
  std::string schema_;
};

}  // namespace stoka::testing
