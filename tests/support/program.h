// External programs that tests start.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace stoka::testing {

struct ProgramResult {
  int code = 0;  // the exit code; 128 + signal if a signal ended it
  std::string out;
  std::string err;
};

// Runs a command to its end, in "/", with `input` as stdin and without PG… environment variables.
ProgramResult run_program(const std::vector<std::string>& command, const std::string& input = "");

// A program in the background, in a session of its own, so that Ctrl-C does not reach it. Throws if
// it cannot be started.
class Program {
 public:
  // Its output is appended to `log`.
  Program(const std::vector<std::string>& command, const std::filesystem::path& log);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program();  // closes its stdin and waits; SIGKILL after 10 s

  pid_t pid() const { return pid_; }
  bool running();
  bool wait(std::chrono::milliseconds timeout);  // true if it has exited
  void signal(int number) const;
  // Writes to its stdin, which is closed when this process ends for any reason.
  void write(const std::string& line) const;

 private:
  pid_t pid_ = -1;
  int input_ = -1;
  const pid_t owner_;
};

}  // namespace stoka::testing
