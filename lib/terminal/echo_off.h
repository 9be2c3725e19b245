#pragma once

#include <termios.h>
#include <unistd.h>

namespace stoka::terminal {

// While it lives, what is typed on the terminal `fd` is not shown, "^C" included; it is still read
// later. Does nothing where `fd` is no terminal, or is one that another job is in front of.
class EchoOff {
 public:
  explicit EchoOff(int fd) : fd_(fd) {
    const pid_t in_front = ::tcgetpgrp(fd_);
    if (in_front != -1 && in_front != ::getpgrp()) return;
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
