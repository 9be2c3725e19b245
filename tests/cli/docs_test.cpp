#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "process.h"

namespace docs_test {

using namespace stoka::test;

namespace {

std::string read(const std::string& name) {
  std::ifstream in(STOKA_SOURCE_DIR "/docs/" + name);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("the HTTP reference is what the program says") {
  Machine machine;
  CHECK_MESSAGE(read("openapi.json") == machine.stoka({"serve", "--openapi"}).out,
                "docs/openapi.json is stale: run scripts/docs");
}

TEST_CASE("the table of the server's settings is what the program says") {
  const std::string reference = read("serve.md");
  Machine machine;
  std::istringstream lines(machine.stoka({"status", "-v"}).out);
  int settings = 0;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string key, variable;
    words >> key >> variable;
    if (!key.starts_with("serve.") && !key.starts_with("auth.")) continue;
    ++settings;
    const std::string help = line.substr(line.find("default ") + 8);
    const std::string row = "| `" + key + "` | `" + variable + "` |";
    CHECK_MESSAGE(reference.find(row) != std::string::npos, "run scripts/docs: " << key);
    CHECK_MESSAGE(reference.find(help.substr(help.find_first_not_of(' '))) != std::string::npos,
                  "run scripts/docs: " << key);
  }
  CHECK(settings > 10);
}

TEST_CASE("the command line reference is what the program says") {
  const std::string reference = read("cli.md");
  Machine machine;
  for (const char* command :
       {"", "index", "chat", "discover", "context", "route", "rerank", "profile", "status", "store",
        "serve", "smoke", "eval", "completion", "help"}) {
    std::vector<std::string> arguments = {"--help"};
    if (*command) arguments.insert(arguments.begin(), command);
    CHECK_MESSAGE(reference.find(machine.stoka(arguments).out) != std::string::npos,
                  "docs/cli.md is stale: run scripts/docs (" << std::string(command) << ")");
  }
}

}  // namespace docs_test
