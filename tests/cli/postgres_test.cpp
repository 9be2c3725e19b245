// The commands on PostgreSQL.
#include "support/postgres.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "client/site_client.h"
#include "machine.h"
#include "net/http_client.h"
#include "server_process.h"
#include "support/json.h"

namespace postgres_test {

using namespace stoka::testing;
using stoka::testing::TestDatabase;
using Json = nlohmann::json;

namespace {

constexpr const char* kQuestion = "tell me about bounded execution";
constexpr const char* kSession = "11111111-2222-4333-8444-555555555555";
constexpr const char* kVisitor = "66666666-7777-4888-9999-aaaaaaaaaaaa";

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

bool one_line(const std::string& text) {
  return !text.empty() && std::count(text.begin(), text.end(), '\n') == 1;
}

struct PostgresMachine : Machine {
  explicit PostgresMachine(const std::string& url) { environment()["STOKA_DB_URL"] = url; }
};

// Removes the latency, which differs between runs.
Json without_latency(const std::string& text) {
  Json out = Json::parse(text);
  if (out["data"].is_object()) out["data"].erase("latency_ms");
  return out;
}

std::vector<Json> events(const std::string& text) {
  std::vector<Json> out;
  for (size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
    out.push_back(without_latency(text.substr(at, end - at)));
  return out;
}

}  // namespace

TEST_CASE("PostgreSQL gives the same answers as SQLite") {
  const TestDatabase database;
  const PostgresMachine there(database.url());
  const Machine here;
  there.index_sample();
  here.index_sample();
  for (const std::vector<std::string>& arguments : {
           std::vector<std::string>{"chat", "--json", "--session", kSession, "--visitor", kVisitor,
                                    kQuestion},
           {"chat", "--json", "--session", kSession, "--visitor", kVisitor,
            "what about its limits"},
           {"chat", "--json", "--session", kSession, "--visitor", kVisitor, kQuestion},
       }) {
    CAPTURE(arguments.back());
    const ProcessResult a = here.stoka(arguments);
    const ProcessResult b = there.stoka(arguments);
    REQUIRE_MESSAGE(b.code == 0, b.err);
    CHECK(events(a.out) == events(b.out));
  }
  for (const std::vector<std::string>& arguments : {
           std::vector<std::string>{"rerank", "--json", "how do you handle failures"},
           {"discover", "--json", "--page", "/blog/philosophy-bounded-execution", "--visitor",
            kVisitor},
           {"context", "--json", "--page", "/blog/philosophy-bounded-execution"},
           {"profile", "--json", "--visitor", kVisitor},
           {"profile", "--json", "--visitor", kVisitor, "--interests", "systems,agents"},
       }) {
    CAPTURE(arguments.front());
    const ProcessResult a = here.stoka(arguments);
    const ProcessResult b = there.stoka(arguments);
    REQUIRE_MESSAGE(b.code == 0, b.err);
    CHECK(Json::parse(a.out) == Json::parse(b.out));
  }
}

TEST_CASE("status names the database and shows no password") {
  const TestDatabase database;
  const PostgresMachine machine(database.url());
  const ProcessResult empty = machine.stoka({"status"});
  CHECK(empty.code == 3);
  CHECK(has(empty.err, "run: stoka index PATH"));
  machine.index_sample();
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"status"}, {"status", "--json"}, {"status", "-v"}}) {
    const ProcessResult ran = machine.stoka(arguments);
    CHECK_MESSAGE(ran.code == 0, ran.err);
    CHECK(has(ran.out, "postgres://"));
    const size_t at = database.url().find('@');
    REQUIRE(at != std::string::npos);
    const size_t colon = database.url().rfind(':', at);
    if (const std::string password = database.url().substr(colon + 1, at - colon - 1);
        !password.starts_with("//"))
      CHECK_FALSE(has(ran.out + ran.err, password));
  }
}

TEST_CASE("store copy copies an index and its sessions to PostgreSQL and back") {
  const TestDatabase database;
  const Machine machine;
  machine.index_sample();
  const std::string sqlite = "sqlite:" + machine.database().string();
  const std::string copy = "sqlite:" + (machine.home() / "copy.db").string();
  const std::vector<std::string> turn = {"chat",      "--session", kSession,
                                         "--visitor", kVisitor,    kQuestion};
  REQUIRE(machine.stoka(turn).code == 0);
  REQUIRE(machine.stoka({"profile", "--visitor", kVisitor, "--interests", "agents"}).code == 0);

  const ProcessResult to = machine.stoka({"store", "copy", "--json", sqlite, database.url()});
  REQUIRE_MESSAGE(to.code == 0, to.err);
  const Json report = Json::parse(to.out);
  CHECK(report["documents"] > 40);
  CHECK(report["unchanged"] == 0);
  CHECK(report["visitors"] == 1);
  CHECK(report["sessions"] == 1);
  const ProcessResult again = machine.stoka({"store", "copy", "--json", sqlite, database.url()});
  REQUIRE_MESSAGE(again.code == 0, again.err);
  CHECK(Json::parse(again.out)["documents"] == 0);
  CHECK(Json::parse(again.out)["unchanged"] == report["documents"]);
  const ProcessResult back = machine.stoka({"store", "copy", database.url(), copy});
  REQUIRE_MESSAGE(back.code == 0, back.err);

  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"rerank", "--json", "how do you handle failures"},
        {"profile", "--json", "--visitor", kVisitor},
        {"chat", "--dry-run", "--session", kSession, "--visitor", kVisitor, "and its limits?"}}) {
    CAPTURE(arguments.front());
    const auto said = [&](const std::string& store) {
      std::vector<std::string> all = {"--store", store};
      all.insert(all.end(), arguments.begin(), arguments.end());
      const ProcessResult ran = machine.stoka(all);
      CHECK_MESSAGE(ran.code == 0, ran.err);
      return ran.out;
    };
    const std::string original = said(sqlite);
    CHECK(said(database.url()) == original);
    CHECK(said(copy) == original);
  }

  machine.write("other/one.md", "# One\n\nA page about nothing much, in a few words.\n");
  const std::string other = "sqlite:" + (machine.home() / "other.db").string();
  REQUIRE(machine.stoka({"--store", other, "index", (machine.home() / "other").string()}).code ==
          0);
  const ProcessResult refused = machine.stoka({"store", "copy", other, database.url()});
  CHECK(refused.code == 3);
  CHECK(has(refused.err, "--prune"));
  CHECK(one_line(refused.err));
  const ProcessResult pruned =
      machine.stoka({"store", "copy", "--prune", "--json", other, database.url()});
  REQUIRE_MESSAGE(pruned.code == 0, pruned.err);
  CHECK(Json::parse(pruned.out)["documents"] == 1);
  CHECK(Json::parse(pruned.out)["removed"] == report["documents"]);
}

TEST_CASE("a database error is one line with the right exit code and without the password") {
  struct Case {
    std::string url;
    int code;
    const char* says;
  };
  const std::string secret = "s3cret-pass%40word";
  std::vector<Case> cases = {
      {"postgres://me:" + secret + "@127.0.0.1:1/site", 4, "127.0.0.1:1"},
      {"postgres://me:" + secret + "@127.0.0.1:notaport/site", 3, "port"},
      {"postgres://me:" + secret + "@127.0.0.1/site?sslmod=off", 3, "sslmod"},
      {"postgresql+psycopg://me:" + secret + "@127.0.0.1/site", 3, "postgres://"},
  };
  if (TestDatabase::kind() == TestDatabase::Kind::native) {
    const std::string url = TestDatabase().url();
    const size_t at = url.find('@');
    const std::string place = url.substr(at, url.find('/', at) - at);  // "@host:port"
    cases.push_back({"postgres://stoka:" + secret + place + "/stoka", 3, "password"});
    cases.push_back({"postgres://nobody:" + secret + place + "/stoka", 3, "nobody"});
  }
  for (const Case& c : cases) {
    const PostgresMachine machine(c.url);
    machine.write("one.md", "# One\n\nA page.\n");
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"status"},
          {"chat", kQuestion},
          {"index", (machine.home() / "one.md").string()},
          {"profile", "--visitor", kVisitor},
          {"store", "copy", c.url, "sqlite:copy.db"}}) {
      const ProcessResult ran = machine.stoka(arguments);
      CAPTURE(arguments.front());
      CAPTURE(ran.err);
      CHECK(ran.code == c.code);
      CHECK(one_line(ran.err));
      CHECK(has(ran.err, c.says));
      CHECK_FALSE(has(ran.err + ran.out, "s3cret"));
    }
  }
}

TEST_CASE("the server starts while the database is down, reports it, and shows no password") {
  PostgresMachine machine("postgres://me:s3cret-pass@127.0.0.1:1/site");
  const ServerProcess served(machine);
  stoka::net::HttpClient client;
  const auto site = stoka::client::SiteClient::make(client, served.url()).value();
  CHECK(site.get("/healthz").value().status == 200);
  const auto ready = site.get("/readyz").value();
  CHECK(ready.status == 503);
  CHECK(has(ready.body, "127.0.0.1:1"));
  CHECK_FALSE(has(ready.body, "s3cret"));
  const auto chat =
      site.post("/api/stoka/chat", R"({"query":"tell me about bounded execution"})").value();
  CHECK(chat.status == 503);
  CHECK(chat.retry_after.has_value());
}

}  // namespace postgres_test
