// SIGTERM and temporary files.
#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "process.h"
#include "support/program.h"

namespace sigterm_test {

using namespace stoka;
using namespace stoka::test;
namespace fs = std::filesystem;

TEST_CASE("eval and smoke remove their temporary folders on SIGTERM") {
  for (const char* command : {"eval", "smoke"}) {
    CAPTURE(std::string(command));
    Machine machine;
    testing::TempFolder temporary;
    testing::TempFolder logs;
    machine.environment()["TMPDIR"] = temporary.path.string();
    std::vector<std::string> line = {"/usr/bin/env", "-i"};
    for (const auto& [name, value] : machine.environment()) line.push_back(name + "=" + value);
    line.insert(line.end(), {STOKA_BINARY, command});
    testing::Program program(line, logs / "log");
    for (int i = 0; i < 2000 && fs::is_empty(temporary.path) && program.running(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    REQUIRE_FALSE(fs::is_empty(temporary.path));
    program.signal(SIGTERM);
    REQUIRE(program.wait(std::chrono::seconds(60)));
    CHECK(fs::is_empty(temporary.path));
  }
}

}  // namespace sigterm_test
