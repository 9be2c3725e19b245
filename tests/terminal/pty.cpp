#include "terminal/pty.h"

#include <doctest/doctest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <iostream>

namespace stoka::testing {
namespace {

constexpr int kTimeoutMs = 10'000;

}  // namespace

Pty::Pty(const std::function<int()>& program, int columns) {
  winsize size{};
  size.ws_row = 24;
  size.ws_col = static_cast<unsigned short>(columns);
  // Otherwise the child would write inherited buffered output to its terminal.
  std::fflush(nullptr);
  std::cout.flush();
  child_ = ::forkpty(&master_, nullptr, nullptr, &size);
  REQUIRE(child_ >= 0);
  if (child_ == 0) {
    // Otherwise Ctrl-C would discard output that the test has not read yet.
    termios mode{};
    ::tcgetattr(STDIN_FILENO, &mode);
    mode.c_lflag |= NOFLSH;
    ::tcsetattr(STDIN_FILENO, TCSANOW, &mode);
    ::setenv("TERM", "xterm", 1);
    ::setenv("LC_ALL", "C.UTF-8", 1);
    std::setlocale(LC_ALL, "C.UTF-8");
    // _exit() runs no destructors and no leak checks of the parent's state.
    ::_exit(program());
  }
}

Pty::~Pty() {
  if (child_ > 0) {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  ::close(master_);
}

void Pty::type(std::string_view keys) {
  while (!keys.empty()) {
    const ssize_t written = ::write(master_, keys.data(), keys.size());
    REQUIRE(written > 0);
    keys.remove_prefix(static_cast<size_t>(written));
  }
}

void Pty::resize(int columns) {
  winsize size{};
  size.ws_row = 24;
  size.ws_col = static_cast<unsigned short>(columns);
  REQUIRE(::ioctl(master_, TIOCSWINSZ, &size) == 0);
}

bool Pty::read_some() {
  pollfd ready{master_, POLLIN, 0};
  if (::poll(&ready, 1, kTimeoutMs) <= 0) return false;
  char bytes[4096];
  const ssize_t got = ::read(master_, bytes, sizeof bytes);
  if (got <= 0) return false;
  drawn_.append(bytes, static_cast<size_t>(got));
  return true;
}

bool Pty::expect(std::string_view text) {
  while (true) {
    const size_t at = drawn_.find(text, seen_);
    if (at != std::string::npos) {
      seen_ = at + text.size();
      return true;
    }
    if (!read_some()) return false;
  }
}

int Pty::wait() {
  // The master reports a hang-up when the child has ended.
  pollfd ready{master_, POLLIN, 0};
  while (read_some()) {
  }
  if (::poll(&ready, 1, 0) <= 0 || (ready.revents & POLLHUP) == 0) return -1;
  int status = 0;
  if (::waitpid(child_, &status, 0) != child_) return -1;
  child_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace stoka::testing
