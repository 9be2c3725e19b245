#include <doctest/doctest.h>

#include <fstream>
#include <iterator>

#include "process.h"

using namespace stoka::test;

TEST_CASE("the command line reference is what the program says") {
  std::ifstream in(STOKA_SOURCE_DIR "/docs/cli.md");
  std::string reference(std::istreambuf_iterator<char>(in), {});
  Machine machine;
  for (const char* command : {"", "index", "chat", "discover", "context", "route", "rerank",
                              "profile", "status", "completion"}) {
    std::vector<std::string> arguments = {"--help"};
    if (*command) arguments.insert(arguments.begin(), command);
    CHECK_MESSAGE(reference.find(machine.stoka(arguments).out) != std::string::npos,
                  "docs/cli.md is stale: run scripts/docs (" << std::string(command) << ")");
  }
}
