// Processes that a benchmark starts: each is ended and waited for with its object, and by the
// kernel when the benchmark is killed. For one thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace stoka::load {

using Variables = std::vector<std::pair<std::string, std::string>>;

class Process {
 public:
  // Goes on in a copy of this process, and ends with body(). Not to be called with threads running.
  explicit Process(const std::function<void()>& body);
  // Output goes to the end of `log`; `variables` come on top of an environment without STOKA_….
  Process(const std::vector<std::string>& command, const Variables& variables,
          const std::filesystem::path& log);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() { end(); }

  pid_t pid() const { return pid_; }
  bool running();
  // Waits for its end by itself; the code of the exit, or 128 + the signal.
  int wait();
  // SIGTERM, after `patience` seconds SIGKILL.
  int end(double patience = 40);

  double cpu_ms() const;                             // used so far by all its threads
  int64_t memory_kb(const std::string& what) const;  // "VmRSS", "VmHWM"

 private:
  int reap(int status);

  pid_t pid_ = -1;
  int code_ = -1;
  bool ended_ = false;
};

int64_t now_us();  // CLOCK_MONOTONIC: the same in all processes
uint16_t free_port();
int listen_on_loopback(uint16_t& port);  // port 0: any
void raise_file_limit();

// SIGINT and SIGTERM only set this, so that everything started is ended on the way out.
bool interrupted();
void catch_interrupts();

}  // namespace stoka::load
