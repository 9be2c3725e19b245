#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "machine.h"
#include "support/json.h"

namespace docs_test {

using namespace stoka::testing;
using Json = nlohmann::json;

namespace {

std::string read(const std::string& name) {
  std::ifstream in(STOKA_SOURCE_DIR "/docs/" + name);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The commands that `stoka --help` lists.
std::vector<std::string> listed_commands(const Machine& machine) {
  std::istringstream help(machine.stoka({"--help"}).out);
  std::vector<std::string> out;
  bool in_list = false;
  for (std::string line; std::getline(help, line);) {
    if (in_list && line.empty()) break;
    std::string name;
    if (in_list && line.starts_with("  ") && line[2] != ' ' && std::istringstream(line) >> name)
      out.push_back(name);
    in_list = in_list || line.starts_with("Subcommands:");
  }
  return out;
}

}  // namespace

TEST_CASE("README.md and docs/serve.md have a row for every command and every route") {
  std::ifstream in(STOKA_SOURCE_DIR "/README.md");
  const std::string readme{std::istreambuf_iterator<char>(in), {}};
  Machine machine;
  for (const std::string& command : listed_commands(machine)) {
    CAPTURE(command);
    CHECK(readme.find("| `stoka " + command) != std::string::npos);
  }
  const std::string serve = read("serve.md");
  const Json description = Json::parse(read("openapi.json"));
  for (const auto& route : description["paths"].items()) {
    CAPTURE(route.key());
    CHECK(serve.find(route.key()) != std::string::npos);
  }
}

TEST_CASE("docs/openapi.json is up to date") {
  Machine machine;
  CHECK_MESSAGE(read("openapi.json") == machine.stoka({"serve", "--openapi"}).out,
                "docs/openapi.json is stale: run scripts/docs");
}

TEST_CASE("the table of settings in docs/serve.md is up to date") {
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

TEST_CASE("docs/cli.md is up to date, and each command has its source file") {
  const std::string reference = read("cli.md");
  const Machine machine;
  const std::vector<std::string> commands = listed_commands(machine);
  CHECK(commands.size() > 10);
  CHECK(reference.find(machine.stoka({"--help"}).out) != std::string::npos);
  for (const std::string& command : commands) {
    CHECK_MESSAGE(reference.find(machine.stoka({command, "--help"}).out) != std::string::npos,
                  "docs/cli.md is stale: run scripts/docs (" << command << ")");
    // The build makes a manual page for each of these files.
    CHECK_MESSAGE(std::filesystem::exists(STOKA_SOURCE_DIR "/apps/stoka/cmd_" + command + ".cpp"),
                  command);
  }
}

}  // namespace docs_test
