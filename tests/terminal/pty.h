// Runs a program on a pseudo-terminal.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <string_view>

namespace stoka::testing {

class Pty {
 public:
  // Runs `program` in a child process on a new terminal. Its result becomes the exit code.
  Pty(const std::function<int()>& program, int columns = 80);
  ~Pty();
  Pty(const Pty&) = delete;
  Pty& operator=(const Pty&) = delete;

  void type(std::string_view keys);
  void resize(int columns);

  // Waits until the text appears after the previous expected text. False if the output ends first
  // or after ten seconds.
  bool expect(std::string_view text);

  // Returns the exit code, or -1 if the program did not end within ten seconds.
  int wait();

  const std::string& drawn() const { return drawn_; }

 private:
  bool read_some();

  pid_t child_ = -1;
  int master_ = -1;
  std::string drawn_;
  size_t seen_ = 0;
};

}  // namespace stoka::testing
