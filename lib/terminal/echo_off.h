#pragma once

#include <termios.h>
#include <unistd.h>

namespace stoka::terminal {

// Turns off the echo of the terminal `fd`, including "^C", until the object is destroyed. Keys that
// are typed meanwhile can still be read afterwards. Does nothing if `fd` is not a terminal or if
// another job is in its foreground.
class EchoOff {
 public:
  explicit EchoOff(int fd) : fd_(fd) {
    const pid_t foreground = ::tcgetpgrp(fd_);
    if (foreground != -1 && foreground != ::getpgrp()) return;
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
