#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "store/postgres/connection.h"
#include "store/postgres_test_server.h"
#include "support/canned_server.h"

namespace postgres_connection_test {

using namespace stoka;
using namespace stoka::store::postgres;
using namespace std::string_literals;

namespace {

Error refusal(const std::string& url) {
  const auto connection = Connection::open(must_parse(url));
  REQUIRE_FALSE(connection);
  return connection.error();
}

// Captures stderr during its lifetime.
class CapturedStderr {
 public:
  CapturedStderr() : file_(std::tmpfile()), before_(::dup(2)) { ::dup2(::fileno(file_), 2); }
  ~CapturedStderr() {
    ::dup2(before_, 2);
    ::close(before_);
    std::fclose(file_);
  }
  long written() const { return ::lseek(::fileno(file_), 0, SEEK_END); }

 private:
  FILE* file_;
  int before_;
};

}  // namespace

TEST_CASE("a refused connection has a cause and a hint, and no error contains the password") {
  const auto& server = shared_server();
  server.sql(
      "CREATE ROLE refused_nologin PASSWORD 'hush-hush';"
      "CREATE ROLE refused_full LOGIN PASSWORD 'hush-hush' CONNECTION LIMIT 0;"
      "CREATE ROLE refused_stranger LOGIN PASSWORD 'hush-hush';"
      "CREATE DATABASE refused_closed; REVOKE CONNECT ON DATABASE refused_closed FROM PUBLIC");
  struct {
    std::string url;
    ErrorKind kind;
    const char *message, *hint;
  } const cases[] = {
      {url_of("stoka", "hush-hush"), ErrorKind::config, "refuses user 'stoka': wrong password?",
       "check the user and the password in STOKA_DB_URL or --store"},
      {url_of("stoka", "hush%2dhush"), ErrorKind::config, "wrong password?", "STOKA_DB_URL"},
      {url_of("nobody", "hush-hush"), ErrorKind::config, "refuses user 'nobody'", "STOKA_DB_URL"},
      {"postgres://stoka@127.0.0.1:" + std::to_string(server.port()) +
           "/stoka?passfile=/nonexistent",
       ErrorKind::config, "requires a password for user 'stoka'", "PGPASSWORD"},
      {url_of("refused_nologin", "hush-hush"), ErrorKind::config, "is not permitted to log in",
       "pg_hba.conf"},
      {server.url("nowhere"), ErrorKind::config, "database \"nowhere\" does not exist", "createdb"},
      {server.url(server.password()), ErrorKind::config, "database \"***\" does not exist",
       "createdb"},
      {url_of("refused_stranger", "hush-hush", "refused_closed"), ErrorKind::config,
       "permission denied for database", "grant"},
      {url_of("refused_full", "hush-hush"), ErrorKind::busy, "accepts no more connections",
       "try again in a moment"},
      {url_of("stoka", "hush-hush", "stoka", 1), ErrorKind::unavailable,
       "cannot connect to postgres://127.0.0.1:1/stoka: Connection refused",
       "check that PostgreSQL is running there"},
      {url_of("stoka", "hush-hush", "stoka?pgbouncer=true"), ErrorKind::config, "\"pgbouncer\"",
       "leave it out"},
      {url_of("stoka", "hush-hush", "stoka?sslmode=hush-hush"), ErrorKind::config,
       "invalid sslmode value", "check the address"},
      {url_of("stoka", "hush-hush", "stoka?sslmode=require"), ErrorKind::config,
       "no secure connection", "sslmode"},
  };
  for (const auto& [url, kind, message, hint] : cases) {
    const Error error = refusal(url);
    CAPTURE(error.message);
    CHECK(error.kind == kind);
    CHECK(error.message.find(message) != std::string::npos);
    CHECK(error.hint.find(hint) != std::string::npos);
    CHECK(error.message.find("hush") == std::string::npos);
    // The name of the database is shown even if it equals the password.
    CHECK((error.message.find(server.password()) == std::string::npos ||
           url == server.url(server.password())));
  }
}

TEST_CASE("a server that is not PostgreSQL gives a protocol error") {
  const testing::CannedServer stranger("HTTP/1.1 400 Bad Request\r\n\r\n");
  const Error error = refusal(url_of("u", "hush-hush", "d", stranger.port()));
  CHECK(error.kind == ErrorKind::protocol);
  CHECK(error.message.find("is not PostgreSQL") != std::string::npos);
}

TEST_CASE("a server that closes every connection gives the error unavailable") {
  const testing::CannedServer stranger("");
  CHECK(refusal(url_of("u", "p", "d?sslmode=disable&gssencmode=disable", stranger.port())).kind ==
        ErrorKind::unavailable);
}

TEST_CASE("a connection has UTF-8, an application name and the settings of the URL") {
  const std::string url = shared_server().url();
  const char* show =
      "SELECT current_setting('client_encoding'), "
      "current_setting('application_name'), current_setting('search_path')";
  Rows rows = must(must_connect(url)->run(show));
  CHECK(rows.text(0, 0) == "UTF8");
  CHECK(rows.text(0, 1) == "stoka");
  rows = must(must_connect(url + "?client_encoding=LATIN1&application_name=site&"
                                 "options=-csearch_path%3Dpg_catalog")
                  ->run(show));
  CHECK(rows.text(0, 0) == "UTF8");
  CHECK(rows.text(0, 1) == "site");
  CHECK(rows.text(0, 2) == "pg_catalog");
  CHECK(must_connect(url)->server_version() >= 150000);
}

TEST_CASE("every SQLSTATE is reported, and only some mean a lost connection") {
  struct {
    const char* state;
    ErrorKind kind;
    FailureKind failure_kind;
  } const cases[] = {
      {"40001", ErrorKind::busy, FailureKind::conflict},
      {"40P01", ErrorKind::busy, FailureKind::conflict},
      {"40000", ErrorKind::busy, FailureKind::conflict},
      {"40003", ErrorKind::unavailable, FailureKind::connection_lost},
      {"57014", ErrorKind::timeout, FailureKind::other},
      {"55P03", ErrorKind::busy, FailureKind::other},
      {"53100", ErrorKind::data, FailureKind::other},
      {"53200", ErrorKind::unavailable, FailureKind::other},
      {"53300", ErrorKind::busy, FailureKind::connection_lost},
      {"42501", ErrorKind::config, FailureKind::other},
      {"42P01", ErrorKind::data, FailureKind::other},
      {"42703", ErrorKind::data, FailureKind::other},
      {"23505", ErrorKind::data, FailureKind::other},
      {"22021", ErrorKind::internal, FailureKind::other},
      {"XX001", ErrorKind::data, FailureKind::other},
      {"57P01", ErrorKind::unavailable, FailureKind::connection_lost},
      {"0A000", ErrorKind::data, FailureKind::other},
      {"25006", ErrorKind::unavailable, FailureKind::other},
      {"P0001", ErrorKind::data, FailureKind::other},
      {"08P01", ErrorKind::internal, FailureKind::other},
  };
  std::unique_ptr<Connection> connection;
  for (const auto& [state, kind, failure_kind] : cases) {
    CAPTURE(state);
    if (!connection || connection->failure_kind() == FailureKind::connection_lost)
      connection = must_connect(shared_server().url());
    const auto failed =
        connection->run("DO $$BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '"s + state + "'; END$$");
    REQUIRE_FALSE(failed);
    CHECK(failed.error().kind == kind);
    CHECK(connection->failure_kind() == failure_kind);
    CHECK(connection->sqlstate() == state);
    const auto next = connection->run("SELECT 1");
    CHECK(next.has_value() == (failure_kind != FailureKind::connection_lost));
    CHECK(connection->failure_kind() == (failure_kind == FailureKind::connection_lost
                                             ? FailureKind::connection_lost
                                             : FailureKind::none));
    CHECK(connection->sqlstate() == (failure_kind == FailureKind::connection_lost ? state : ""));
  }
}

TEST_CASE("a statement that the server cannot parse leaves the connection usable") {
  const auto connection = must_connect(shared_server().url());
  const Params one = Params().integer(7);
  for (const auto& [sql, params, state] :
       {std::tuple{"SELEC 1", Params(), "42601"}, std::tuple{"SELECT 1", one, "08P01"},
        std::tuple{"SELECT $1::int", one, "22P03"}, std::tuple{"SELECT 1; SELECT 2", one, "42601"},
        std::tuple{"SELECT nothing FROM nowhere", Params(), "42P01"}}) {
    CAPTURE(sql);
    CHECK_FALSE(connection->run(sql, params));
    CHECK(connection->failure_kind() == FailureKind::other);
    CHECK(connection->sqlstate() == state);
    CHECK(must(connection->run("SELECT $1::bigint", one)).integer(0, 0) == 7);
  }
}

TEST_CASE("statements after a conflict do not hide the conflict") {
  const auto connection = must_connect(shared_server().url());
  must(connection->run("BEGIN"));
  CHECK_FALSE(connection->run("DO $$BEGIN RAISE 'no' USING ERRCODE = '40001'; END$$"));
  CHECK_FALSE(connection->run("SELECT 1"));
  CHECK(connection->failure_kind() == FailureKind::conflict);
  CHECK(connection->sqlstate() == "40001");
  must(connection->run("ROLLBACK"));
  CHECK(connection->failure_kind() == FailureKind::none);
}

TEST_CASE("a lost connection stays lost, although the server accepts new ones") {
  const auto connection = must_connect(shared_server().url());
  const auto pid = must(connection->run("SELECT pg_backend_pid()")).integer(0, 0);
  must(connection->run("SET application_name = 'kept'"));
  shared_server().sql("SELECT pg_terminate_backend(" + std::to_string(pid) + ")");
  for (int i = 0; i < 4; ++i) {
    const auto rows = connection->run("SELECT 1", Params());
    REQUIRE_FALSE(rows);
    CHECK(rows.error().kind == ErrorKind::unavailable);
    CHECK(connection->failure_kind() == FailureKind::connection_lost);
    CHECK_FALSE(connection->run("SELECT 1"));
  }
}

TEST_CASE("several statements return the rows of the last") {
  const auto connection = must_connect(shared_server().url());
  const Rows rows = must(connection->run(
      "CREATE TEMP TABLE t (x INT); INSERT INTO t VALUES (1), (2); SELECT x FROM t ORDER BY x"));
  CHECK(rows.size() == 2);
  CHECK(rows.integer(1, 0) == 2);
  CHECK(must(connection->run("")).size() == 0);
  CHECK(Rows().size() == 0);
}

TEST_CASE("rows outlive their connection") {
  Rows rows;
  {
    const auto connection = must_connect(shared_server().url());
    rows = must(connection->run("SELECT 'kept', NULL, 42 FROM generate_series(1, 1000)"));
  }
  const Rows copy = rows;
  rows = Rows();
  CHECK(copy.size() == 1000);
  CHECK(copy.text(999, 0) == "kept");
  CHECK(copy.is_null(999, 1));
  CHECK(copy.integer(999, 2) == 42);
}

TEST_CASE("notices of the server are not printed") {
  const CapturedStderr captured;
  const auto connection = must_connect(shared_server().url());
  must(connection->run("DO $$BEGIN RAISE NOTICE 'note'; RAISE WARNING 'warning'; END$$"));
  must(connection->run("ROLLBACK"));  // the server warns that no transaction is open
  CHECK_FALSE(connection->run("SELECT nonsense"));
  CHECK(captured.written() == 0);
}

}  // namespace postgres_connection_test
