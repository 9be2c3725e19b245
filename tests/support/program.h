// Programs that a test starts.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace stoka::testing {

struct Ran {
  int code = 0;  // of the exit; 128 + the signal that ended it
  std::string out;
  std::string err;
};

// Runs to the end, in "/", with `input` to read and without variables PG… of the environment.
Ran run_program(const std::vector<std::string>& command, const std::string& input = "");

// A program in the background, in a session of its own, so that no Ctrl-C reaches it. Throws when
// it cannot be started.
class Program {
 public:
  // Its output goes to the end of `log`.
  Program(const std::vector<std::string>& command, const std::filesystem::path& log);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program();  // closes its input, and waits; SIGKILL when that takes 10 s

  pid_t pid() const { return pid_; }
  bool running();
  bool wait(std::chrono::milliseconds most);  // whether it has ended
  void signal(int number) const;
  // Its input ends with the writer's process, however that ends: what watches for it there is told.
  void write(const std::string& line) const;

 private:
  pid_t pid_ = -1;
  int input_ = -1;
  const pid_t owner_;
};

}  // namespace stoka::testing
