// The PostgreSQL servers that the other tests use.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "support/eventually.h"
#include "support/postgres.h"
#include "support/postgres_programs.h"

namespace database_fixture_test {

using stoka::testing::eventually;
using stoka::testing::PostgresPrograms;
using stoka::testing::PostgresServer;
using stoka::testing::run_psql;
using stoka::testing::TestDatabase;

namespace {

bool answers(const std::string& url) {
  try {
    return run_psql(PostgresPrograms(), url, "SELECT 1") == "1";
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

TEST_CASE("each TestDatabase has an empty schema, and pgvector") {
  const TestDatabase one, two;
  CHECK(one.sql("CREATE TABLE here (x INT); SELECT current_schema") == one.schema());
  CHECK(two.sql("SELECT to_regclass('here') IS NULL") == "t");
  CHECK(one.sql("SELECT '[3,4]'::vector <-> '[0,0]'::vector") == "5");
}

TEST_CASE("the schema of a TestDatabase is dropped with it") {
  std::string schema;
  {
    const TestDatabase database;
    schema = database.schema();
    database.sql("CREATE TABLE here (x INT)");
  }
  CHECK(TestDatabase().sql("SELECT count(*) FROM pg_namespace WHERE nspname = '" + schema + "'") ==
        "0");
}

TEST_CASE("a failed statement throws the message of psql") {
  const TestDatabase database;
  CHECK_THROWS_WITH_AS(database.sql("SELECT 1; SELECT nonsense"),
                       doctest::Contains("column \"nonsense\" does not exist"), std::runtime_error);
}

TEST_CASE("a server can be stopped, killed and restarted on the same port") {
  PostgresServer server({"log_connections = on"});
  server.sql("CREATE TABLE kept AS SELECT 42 AS x");
  const std::string url = server.url();
  CHECK(answers(url));
  CHECK(server.sql("SHOW log_connections") == "on");

  server.stop();
  CHECK_FALSE(answers(url));
  server.start();
  CHECK(server.url() == url);
  CHECK(server.sql("SELECT x FROM kept") == "42");

  server.sql("INSERT INTO kept VALUES (43)");
  server.kill();
  CHECK_FALSE(answers(url));
  server.start();
  CHECK(server.sql("SELECT count(*) FROM kept") == "2");
}

TEST_CASE("a server requires its password") {
  const PostgresServer server;
  std::string wrong = server.url();
  wrong.replace(wrong.find(server.password()), server.password().size(), "guessed");
  CHECK_FALSE(answers(wrong));
  CHECK(answers(server.url()));
}

TEST_CASE("a server ends with the test program, however that ends") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t program = ::fork();
  if (program == 0) {
    try {
      const PostgresServer server;
      const std::string said = server.url() + "\n" + server.sql("SHOW data_directory") + "\n";
      if (::write(ends[1], said.data(), said.size()) > 0) ::pause();
    } catch (...) {
    }
    ::_exit(1);
  }
  ::close(ends[1]);
  std::string said;
  char byte = 0;
  while (std::count(said.begin(), said.end(), '\n') < 2 && ::read(ends[0], &byte, 1) == 1)
    said += byte;
  ::close(ends[0]);
  const size_t line = said.find('\n');
  REQUIRE(line != std::string::npos);
  const std::string url = said.substr(0, line);
  const std::filesystem::path data = said.substr(line + 1, said.size() - line - 2);
  CHECK(answers(url));
  CHECK(std::filesystem::exists(data));

  ::kill(program, SIGKILL);
  ::waitpid(program, nullptr, 0);
  CHECK(eventually([&] { return !answers(url); }));
  CHECK(eventually([&] { return !std::filesystem::exists(data.parent_path()); }));
}

}  // namespace database_fixture_test
