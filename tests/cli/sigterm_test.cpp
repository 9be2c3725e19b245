// SIGTERM and temporary files.
#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "machine.h"
#include "support/process.h"

namespace sigterm_test {

using namespace stoka;
using namespace stoka::testing;
namespace fs = std::filesystem;

TEST_CASE("eval and smoke remove their temporary folders on SIGTERM") {
  for (const char* command : {"eval", "smoke"}) {
    CAPTURE(std::string(command));
    Machine machine;
    TempFolder temporary;
    TempFolder logs;
    machine.environment()["TMPDIR"] = temporary.path.string();
    Process program({STOKA_BINARY, command}, logs / "log", machine.options());
    for (int i = 0; i < 2000 && fs::is_empty(temporary.path) && program.running(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    REQUIRE_FALSE(fs::is_empty(temporary.path));
    program.signal(SIGTERM);
    REQUIRE(program.wait(std::chrono::seconds(60)));
    CHECK(fs::is_empty(temporary.path));
  }
}

}  // namespace sigterm_test
