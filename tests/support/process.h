// External programs that tests start.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "support/sockets.h"

namespace stoka::testing {

struct ProcessOptions {
  // All its variables; by default those of this process without PG….
  std::optional<std::map<std::string, std::string>> environment = {};
  // Its working directory. Another user may have no access to that of the tests.
  std::filesystem::path folder = "/";
};

// A program in the background, in a session of its own, so that Ctrl-C does not reach it.
class Process {
 public:
  // Its output is appended to `log`. Throws if it cannot be started.
  Process(const std::vector<std::string>& command, const std::filesystem::path& log,
          const ProcessOptions& options = {});
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();  // closes its stdin and waits; SIGKILL after 10 s

  pid_t pid() const { return pid_; }
  bool running();
  bool wait(std::chrono::milliseconds timeout);  // true if it has exited
  void signal(int number) const;
  // Writes to its stdin, which is closed when this process ends for any reason.
  void write(const std::string& line) const;

 private:
  pid_t pid_ = -1;
  Descriptor input_;
  const pid_t owner_;
};

struct ProcessResult {
  int code = -1;  // the exit code; 128 + signal if a signal ended it
  std::string out;
  std::string err;
};

// Runs a command to its end, with `input` as stdin. If `out` is given, stdout goes to that file and
// is not captured. Throws if the command cannot be started, or writes nothing for ten minutes.
ProcessResult run_process(const std::vector<std::string>& command, const std::string& input = "",
                          const ProcessOptions& options = {},
                          const std::filesystem::path& out = {});

}  // namespace stoka::testing
