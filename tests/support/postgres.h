// PostgreSQL for tests.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace stoka::testing {

// A throw-away server of this test program's own: native PostgreSQL on a free port of 127.0.0.1 in
// a temporary folder, gone with the object (and with the program, however it ends). Passwords are
// asked for (scram-sha-256); user "stoka" is its superuser.
class PostgresServer {
 public:
  // `settings`: lines of postgresql.conf. Throws if no server program is found.
  explicit PostgresServer(const std::vector<std::string>& settings = {});
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;

  bool has_vector() const;  // whether pgvector can be created in it
  int port() const;
  std::string password() const;
  // "postgres://stoka:PASSWORD@127.0.0.1:PORT/DATABASE"
  std::string url(const std::string& database = "stoka") const;

  void stop();   // fast: clients are thrown out
  void kill();   // SIGKILL to the postmaster and its children, as a crash would
  void start();  // again, on the same port
  // Statements as superuser through psql, outside the code that is tested. Returns the rows,
  // columns separated by "|", without the last line's end. Throws what psql complains of.
  std::string sql(const std::string& statements, const std::string& database = "stoka") const;

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

// The one server with pgvector that all contract tests of a program share: STOKA_TEST_DB_URL, else
// a PostgresServer, else pgvector as WebAssembly. Started when first asked for.
class TestDatabase {
 public:
  enum class Kind { given, native, wasm };
  static Kind kind();
  // The WebAssembly build has one backend: no two transactions at once, no timeouts, no kills.
  static bool many_backends() { return kind() != Kind::wasm; }

  // A new empty schema in it, dropped with the object.
  TestDatabase();
  ~TestDatabase();
  TestDatabase(const TestDatabase&) = delete;

  const std::string& url() const { return url_; }  // with the schema as its search path
  const std::string& schema() const { return schema_; }
  std::string sql(const std::string& statements) const;  // through psql, in that schema

 private:
  std::string url_;
  std::string schema_;
};

}  // namespace stoka::testing
