#include "terminal/echo_off.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>

namespace stoka::terminal::echo_off_test {
namespace {

// The two ends of a terminal.
struct Pty {
  int person = ::posix_openpt(O_RDWR | O_NOCTTY);
  int program = -1;
  Pty() {
    REQUIRE(person >= 0);
    REQUIRE(::grantpt(person) == 0);
    REQUIRE(::unlockpt(person) == 0);
    program = ::open(::ptsname(person), O_RDWR | O_NOCTTY);
    REQUIRE(program >= 0);
  }
  ~Pty() {
    ::close(program);
    ::close(person);
  }
  bool echoes() const {
    termios now{};
    REQUIRE(::tcgetattr(program, &now) == 0);
    return (now.c_lflag & ECHO) != 0;
  }
};

TEST_CASE("typing is not shown while the guard lives, and is still read afterwards") {
  const Pty terminal;
  REQUIRE(terminal.echoes());
  {
    const EchoOff quiet(terminal.program);
    CHECK_FALSE(terminal.echoes());
    REQUIRE(::write(terminal.person, "typed\n", 6) == 6);
    // The terminal has taken the line when it can be read.
    pollfd typed{terminal.program, POLLIN, 0};
    REQUIRE(::poll(&typed, 1, 10'000) == 1);
    REQUIRE(::write(terminal.program, "answer", 6) == 6);
  }
  CHECK(terminal.echoes());
  char shown[64] = {};
  const ssize_t n = ::read(terminal.person, shown, sizeof shown);
  CHECK(std::string(shown, n > 0 ? static_cast<size_t>(n) : 0) == "answer");
  char read[64] = {};
  CHECK(::read(terminal.program, read, sizeof read) == 6);
  CHECK(std::string(read) == "typed\n");
}

TEST_CASE("a file that is no terminal is left alone") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  { const EchoOff quiet(ends[0]); }
  { const EchoOff quiet(-1); }
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace stoka::terminal::echo_off_test
