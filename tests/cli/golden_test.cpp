#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "server_process.h"
#include "support/eventually.h"

namespace golden_test {

using namespace stoka::testing;
using Json = nlohmann::json;

namespace {

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// The built-in replies with another answer to "what is this?".
std::string replies_with(std::string_view answer) {
  std::string text = read_text(STOKA_SOURCE_DIR "/golden/replies.toml");
  const size_t at = text.find("what = [");
  return text.replace(at, text.find('\n', at) - at, "what = [\"" + std::string(answer) + "\"]");
}

}  // namespace

TEST_CASE("golden init writes files that stoka can use, with examples from the index") {
  Machine home;
  home.index_sample();
  const std::string directory = (home.home() / "voice").string();
  const ProcessResult made = home.stoka({"golden", "init", directory});
  REQUIRE_MESSAGE(made.code == 0, made.err);
  CHECK(has(made.out, directory + "/exchanges.txt\n"));
  CHECK(has(made.err, "3 examples were drafted"));
  home.environment()["STOKA_GOLDEN_DIR"] = directory;
  const ProcessResult prompt = home.stoka({"chat", "--dry-run", "tell me about bounded execution"});
  CHECK_MESSAGE(prompt.code == 0, prompt.err);
  const ProcessResult status = home.stoka({"status", "--json"});
  CHECK_MESSAGE(status.code == 0, status.err);
  CHECK(Json::parse(status.out)["missing_examples"] == Json::array());

  const ProcessResult again = home.stoka({"golden", "init", directory});
  CHECK(again.code == 2);
  CHECK(has(again.err, "exists already"));
  CHECK(home.stoka({"golden", "inti", directory}).code == 2);
}

TEST_CASE("golden init needs no index") {
  Machine home;
  const ProcessResult made = home.stoka({"golden", "init", "voice", "--json"});
  REQUIRE_MESSAGE(made.code == 0, made.err);
  const Json report = Json::parse(made.out);
  CHECK(report["drafted"] == 0);
  CHECK(report["files"].size() == 10);
  CHECK(std::filesystem::exists(home.home() / "voice/never.txt"));
}

TEST_CASE("status names the pages that examples cite and the index lacks") {
  Machine home;
  home.write("site/blog/one.md", "---\ntitle: One\ndate: 2026-01-01\n---\nA page about owls.\n");
  REQUIRE(home.stoka({"index", "site"}).code == 0);
  const ProcessResult status = home.stoka({"status"});
  CHECK(has(status.out, "debono-error-handling, philosophy-bounded-execution"));
  const Json report = Json::parse(home.stoka({"status", "--json"}).out);
  CHECK(report["missing_examples"].size() == 3);
}

TEST_CASE(
    "a running server uses changed golden files, and keeps the old ones if they are invalid") {
  Machine home;
  home.index_sample();
  home.write("golden/replies.toml", replies_with("a first answer."));
  home.environment()["STOKA_GOLDEN_DIR"] = (home.home() / "golden").string();
  ServerProcess server(home);
  const Machine visitor;
  const auto says = [&](std::string_view answer) {
    return has(visitor.stoka({"chat", "--url", server.url(), "what is this?"}).out, answer);
  };
  const auto logged = [&](std::string_view text) {
    return eventually([&] { return has(read_text(home.home() / "serve.log"), text); });
  };
  CHECK(says("a first answer."));
  home.write("golden/replies.toml", replies_with("a second answer, which is longer."));
  CHECK(eventually([&] { return says("a second answer, which is longer."); }));
  home.write("golden/replies.toml", "frob = [\"x\"]\n");
  CHECK(logged("unknown key 'frob'"));
  CHECK(says("a second answer, which is longer."));
  home.write("golden/replies.toml", replies_with("a third answer."));
  CHECK(eventually([&] { return says("a third answer."); }));
}

}  // namespace golden_test
