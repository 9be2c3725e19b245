// `stoka smoke` with its own servers and with running ones.
#include <doctest/doctest.h>

#include "server_process.h"
#include "support/canned_server.h"
#include "support/json.h"

namespace smoke_test {

using namespace stoka::testing;
using Json = nlohmann::json;

namespace {

std::vector<int> numbers(const Json& report, const Json& ok) {
  std::vector<int> out;
  for (const Json& check : report["checks"])
    if (check["ok"] == ok) out.push_back(check["n"].get<int>());
  return out;
}

}  // namespace

TEST_CASE("smoke passes all eleven checks with any configuration and removes its files") {
  Machine machine;
  auto& env = machine.environment();
  env["STOKA_EMBED_URL"] = "http://127.0.0.1:9";
  env["STOKA_RERANK_URL"] = "http://127.0.0.1:9";
  env["STOKA_CHAT_LIMIT"] = "1/300";
  env["STOKA_DB_URL"] = "sqlite:" + (machine.home() / "own.db").string();
  env["TMPDIR"] = (machine.home() / "tmp").string();
  std::filesystem::create_directories(machine.home() / "tmp");
  const ProcessResult ran = machine.stoka({"smoke", "--json"});
  CHECK_MESSAGE(ran.code == 0, (ran.out + ran.err));
  CHECK(ran.err == "");
  const Json report = Json::parse(ran.out);
  CHECK(report["checks"].size() == 11);
  CHECK(report["passed"] == 11);
  CHECK(report["failed"] == 0);
  CHECK(report["skipped"] == 0);
  for (const Json& check : report["checks"]) {
    CHECK(!check["name"].get<std::string>().empty());
    CHECK(!check["detail"].get<std::string>().empty());
  }
  CHECK(std::filesystem::is_empty(machine.home() / "tmp"));
  CHECK(!std::filesystem::exists(machine.home() / "own.db"));
  CHECK(!std::filesystem::exists(machine.database()));
}

TEST_CASE("smoke checks the configured golden data") {
  Machine machine;
  std::string replies = read_text(STOKA_SOURCE_DIR "/golden/replies.toml");
  const std::string said = "\"wrong terminal.\"";
  replies.replace(replies.find(said), said.size(), "\"no idea.\"");
  machine.write("golden/replies.toml", replies);
  machine.write(".config/stoka/config.toml",
                "[golden]\ndir = \"" + (machine.home() / "golden").string() + "\"\n");
  const ProcessResult ran = machine.stoka({"smoke"});
  CHECK(ran.code == 1);
  CHECK_MESSAGE(ran.out.find(" 4  FAILED ") != std::string::npos, (ran.out + ran.err));
  CHECK(ran.out.find("says: no idea.") != std::string::npos);
  CHECK(ran.out.find("10 passed, 1 failed, 0 skipped") != std::string::npos);
}

TEST_CASE("smoke --url checks a running server") {
  Machine machine;
  machine.index_sample();
  const ServerProcess served(machine);
  const ProcessResult ran = machine.stoka({"smoke", "--json", "--url", served.url()});
  CHECK_MESSAGE(ran.code == 0, (ran.out + ran.err));
  const Json report = Json::parse(ran.out);
  CHECK(report["passed"] == 9);
  CHECK(report["skipped"] == 2);
  CHECK(numbers(report, nullptr) == std::vector<int>{8, 9});
}

TEST_CASE(
    "smoke --url passes repeatedly on a site with other content and keeps within its rate limit") {
  Machine machine;
  machine.write("site/blog/bread.md",
                "---\ntitle: Rye bread at home\n---\nRye bread is rye flour, water and salt. Time "
                "does the rest.\n");
  machine.write("site/blog/starter.md",
                "---\ntitle: Feeding a sourdough starter\n---\nA sourdough starter is fed once a "
                "day. Keep it warm, and feed it flour.\n");
  REQUIRE(machine.stoka({"index", "site"}).code == 0);
  const ServerProcess served(machine, "30/300");
  for (int i = 0; i < 3; ++i) {
    CAPTURE(i);
    const ProcessResult ran = machine.stoka({"smoke", "--json", "--url", served.url()});
    CAPTURE(ran.out);
    if (ran.code == 4) {  // the remaining requests are not used up
      CHECK(i > 0);
      CHECK(ran.err.find("no question about the site's pages was asked") != std::string::npos);
      continue;
    }
    CHECK(ran.code == 0);
    const Json report = Json::parse(ran.out);
    CHECK(report["failed"] == 0);
    if (i == 0) CHECK(numbers(report, nullptr) == std::vector<int>{8, 9});
  }
  CHECK(machine.stoka({"chat", "--url", served.url(), "what is this?"}).code == 0);
}

TEST_CASE("smoke --url uses the given question, page and slug") {
  Machine machine;
  machine.index_sample();
  const ServerProcess served(machine);
  const ProcessResult right =
      machine.stoka({"smoke", "--url", served.url(), "--ask", "tell me about bounded execution",
                     "--cites", "philosophy-bounded-execution", "--page", "/blog/retry-storms",
                     "--void", "quantum gravity research"});
  CHECK_MESSAGE(right.code == 0, (right.out + right.err));
  CHECK(right.out.find("philosophy-bounded-execution: score") != std::string::npos);
  const ProcessResult wrong =
      machine.stoka({"smoke", "--url", served.url(), "--ask", "tell me about bounded execution",
                     "--cites", "nowhere"});
  CHECK(wrong.code == 1);
  CHECK(wrong.out.find("instead of nowhere") != std::string::npos);
  const ProcessResult local = machine.stoka({"smoke", "--ask", "x"});
  CHECK(local.code == 2);
  CHECK(local.err.find("--url") != std::string::npos);
}

TEST_CASE("scripts/smoke.sh runs smoke --url of the built program or of the one on the PATH") {
  Machine machine;
  machine.index_sample();
  const ServerProcess served(machine);
  const ProcessResult prepared =
      machine.shell("mkdir scripts bin && cp '" STOKA_SOURCE_DIR "/scripts/smoke.sh' scripts/");
  REQUIRE_MESSAGE(prepared.code == 0, prepared.err);
  const auto run = [&](const std::string& arguments) {
    return machine.shell("PATH=\"$PWD/bin:$PATH\" scripts/smoke.sh " + arguments);
  };
  if (machine.shell("command -v stoka").code != 0) {
    const ProcessResult missing = run(served.url());
    CHECK(missing.code == 2);
    CHECK(missing.err == "smoke: stoka is not installed; scripts/run builds it\n");
  }

  std::filesystem::create_symlink(STOKA_BINARY, machine.home() / "bin/stoka");
  const ProcessResult right = run("--ask 'tell me about bounded execution' --json " + served.url());
  CHECK_MESSAGE(right.code == 0, (right.out + right.err));
  CHECK(Json::parse(right.out)["passed"] == 9);
  CHECK(run("--cites nowhere " + served.url()).code == 1);
  for (const char* wrong : {"--ask", "--nonsense", "--void '' http://127.0.0.1:9", "''",
                            "http://127.0.0.1:9 http://127.0.0.1:9"}) {
    CAPTURE(std::string(wrong));
    CHECK(run(wrong).code == 2);
  }
  CHECK(run("http://127.0.0.1:9").code == 4);

  const std::string build = "build/release/apps/stoka";
  std::filesystem::create_directories(machine.home() / build);
  machine.write(build + "/stoka", "#!/bin/sh\necho \"built: $*\"\n");
  REQUIRE(machine.shell("chmod +x " + build + "/stoka").code == 0);
  CHECK(run("").out == "built: smoke --url http://127.0.0.1:8787\n");
}

TEST_CASE("smoke --url gives exit code 4 if there is no stoka, and 2 for a wrong flag") {
  Machine machine;
  const CannedServer page(
      "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\nhi");
  for (const std::string& url : {std::string("http://127.0.0.1:9"), page.url()}) {
    const ProcessResult ran = machine.stoka({"smoke", "--url", url});
    CHECK(ran.code == 4);
    CHECK(ran.out == "");
    CHECK(ran.err.find(url) != std::string::npos);
  }
  CHECK(machine.stoka({"smoke", "--store", "sqlite:x.db"}).code == 2);
  CHECK(machine.stoka({"smoke", "--url", "nonsense://x"}).code == 2);
}

}  // namespace smoke_test
