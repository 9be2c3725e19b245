#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <thread>

#include "support/postgres.h"
#include "support/postgres_programs.h"
#include "support/process.h"

namespace fs = std::filesystem;

namespace stoka::testing {
namespace {

std::string environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// PGlite, which exits when its stdin is closed.
class WasmServer {
 public:
  WasmServer() {
    const fs::path modules = fs::path(STOKA_SOURCE_DIR) / "build/test-pglite";
    if (!fs::exists(modules / "node_modules"))
      throw std::runtime_error("no PostgreSQL with pgvector: run scripts/test_database");
    const fs::path log = fs::temp_directory_path() / ("stoka-pglite-" + random_name());
    program_.emplace(
        std::vector<std::string>{"node", STOKA_SOURCE_DIR "/tests/support/pglite/server.mjs",
                                 modules},
        log);
    for (auto until = std::chrono::steady_clock::now() + std::chrono::seconds(180); !port_;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      const bool ended = !program_->running() || std::chrono::steady_clock::now() > until;
      std::ifstream in(log);
      std::string line;
      if (std::getline(in, line) && !in.eof()) port_ = std::atoi(line.c_str());
      if (!port_ && ended) throw std::runtime_error("PGlite does not start, see " + log.string());
    }
    fs::remove(log);
  }

  std::string url() const {
    return "postgres://postgres:postgres@127.0.0.1:" + std::to_string(port_) + "/postgres";
  }

 private:
  std::optional<Process> program_;
  int port_ = 0;
};

struct SharedServer {
  PostgresPrograms programs;  // psql is used for all kinds
  std::unique_ptr<PostgresServer> native;
  std::unique_ptr<WasmServer> wasm;
  TestDatabase::Kind kind = TestDatabase::Kind::given;
  std::string url = environment_variable("STOKA_TEST_DB_URL");
  std::string after_schema;  // the part of the search path behind the schema of a test

  SharedServer() {
    if (url.empty()) start(environment_variable("STOKA_TEST_DATABASE"));
    // Created here, in a schema that no test drops. A given server may refuse it; the store then
    // reports a better error.
    try {
      sql("CREATE EXTENSION IF NOT EXISTS vector");
    } catch (const std::exception&) {
      if (kind != TestDatabase::Kind::given) throw;
    }
    if (sql("SELECT extnamespace::regnamespace FROM pg_extension WHERE extname = 'vector'") ==
        "public")
      after_schema = "%2Cpublic";
  }

  void start(const std::string& wanted) {
    if (!wanted.empty() && wanted != "wasm" && wanted != "native")
      throw std::runtime_error("STOKA_TEST_DATABASE must be native or wasm");
    if (wanted != "wasm" && programs.found()) {
      native = std::make_unique<PostgresServer>();
      if (!native->has_vector() && wanted.empty()) native.reset();
    }
    if (!native) wasm = std::make_unique<WasmServer>();
    kind = native ? TestDatabase::Kind::native : TestDatabase::Kind::wasm;
    url = native ? native->url() : wasm->url();
  }

  std::string sql(const std::string& statements) const {
    return run_psql(programs, url, statements);
  }
};

SharedServer& shared_server() {
  static SharedServer server;
  return server;
}

// Adds the search path to the URL and keeps its other parameters.
std::string with_search_path(std::string url, const std::string& schemas) {
  const std::string option = "-csearch_path%3D" + schemas;
  const size_t query = url.find('?');
  if (query == std::string::npos) return url + "?options=" + option;
  for (size_t at = query; at != std::string::npos; at = url.find('&', at + 1)) {
    if (url.compare(at + 1, 8, "options=") != 0) continue;
    const size_t end = url.find('&', at + 1);
    return url.insert(end == std::string::npos ? url.size() : end, "%20" + option);
  }
  return url + (url.back() == '?' || url.back() == '&' ? "" : "&") + "options=" + option;
}

}  // namespace

TestDatabase::Kind TestDatabase::kind() { return shared_server().kind; }

TestDatabase::TestDatabase() : schema_(random_name()) {
  shared_server().sql("CREATE SCHEMA " + schema_);
  url_ = with_search_path(shared_server().url, schema_ + shared_server().after_schema);
}

TestDatabase::~TestDatabase() {
  try {
    // With a timeout, in case a connection still holds a lock.
    shared_server().sql(
        "SET lock_timeout = '10s'; SET client_min_messages = warning; DROP SCHEMA " + schema_ +
        " CASCADE");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cannot drop a schema of the tests: %s\n", error.what());
  }
}

std::string TestDatabase::sql(const std::string& statements) const {
  return run_psql(shared_server().programs, url_, statements);
}

}  // namespace stoka::testing
