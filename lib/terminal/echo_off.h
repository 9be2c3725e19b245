#pragma once

#include <termios.h>

namespace stoka::terminal {

// While it lives, what is typed on the terminal `fd` is not shown, "^C" included; it is still read
// later. Does nothing where `fd` is no terminal.
class EchoOff {
 public:
  explicit EchoOff(int fd) : fd_(fd) {
    if (::tcgetattr(fd_, &before_) != 0) return;
    termios silent = before_;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO | ECHONL);
    changed_ = ::tcsetattr(fd_, TCSADRAIN, &silent) == 0;
  }
  ~EchoOff() {
    if (changed_) ::tcsetattr(fd_, TCSADRAIN, &before_);
  }
  EchoOff(const EchoOff&) = delete;
  EchoOff& operator=(const EchoOff&) = delete;

 private:
  int fd_;
  termios before_{};
  bool changed_ = false;
};

}  // namespace stoka::terminal
