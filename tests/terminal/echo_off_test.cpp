#include "terminal/echo_off.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>

namespace stoka::terminal::echo_off_test {
namespace {

// A pseudo-terminal: the user's end and the program's end.
struct Pty {
  int user = ::posix_openpt(O_RDWR | O_NOCTTY);
  int program = -1;
  Pty() {
    REQUIRE(user >= 0);
    REQUIRE(::grantpt(user) == 0);
    REQUIRE(::unlockpt(user) == 0);
    program = ::open(::ptsname(user), O_RDWR | O_NOCTTY);
    REQUIRE(program >= 0);
  }
  ~Pty() {
    ::close(program);
    ::close(user);
  }
  bool echoes() const {
    termios now{};
    REQUIRE(::tcgetattr(program, &now) == 0);
    return (now.c_lflag & ECHO) != 0;
  }
};

TEST_CASE("EchoOff hides what is typed, which can still be read afterwards") {
  const Pty terminal;
  REQUIRE(terminal.echoes());
  {
    const EchoOff quiet(terminal.program);
    CHECK_FALSE(terminal.echoes());
    REQUIRE(::write(terminal.user, "typed\n", 6) == 6);
    // Once the line is readable, the terminal has processed it.
    pollfd typed{terminal.program, POLLIN, 0};
    REQUIRE(::poll(&typed, 1, 10'000) == 1);
    REQUIRE(::write(terminal.program, "answer", 6) == 6);
  }
  CHECK(terminal.echoes());
  char shown[64] = {};
  const ssize_t n = ::read(terminal.user, shown, sizeof shown);
  CHECK(std::string(shown, n > 0 ? static_cast<size_t>(n) : 0) == "answer");
  char read[64] = {};
  CHECK(::read(terminal.program, read, sizeof read) == 6);
  CHECK(std::string(read) == "typed\n");
}

TEST_CASE("EchoOff does nothing for a file that is not a terminal") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  { const EchoOff quiet(ends[0]); }
  { const EchoOff quiet(-1); }
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace stoka::terminal::echo_off_test
