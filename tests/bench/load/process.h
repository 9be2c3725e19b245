// A child process of a benchmark. The destructor stops it and waits for it; the kernel kills it if
// the benchmark dies. For one thread.
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
  // Forks a child that runs body() and exits. Must not be called while other threads run.
  explicit Process(const std::function<void()>& body);
  // Starts a program. Its output is appended to `log`; `variables` are added to the environment,
  // from which all STOKA_… are removed.
  Process(const std::vector<std::string>& command, const Variables& variables,
          const std::filesystem::path& log);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() { end(); }

  pid_t pid() const { return pid_; }
  bool running();
  // Waits until the process exits; returns its exit code, or 128 + the signal.
  int wait();
  // Sends SIGTERM, and SIGKILL after `patience` seconds.
  int end(double patience = 40);

  double cpu_ms() const;                             // CPU time of all its threads so far
  int64_t memory_kb(const std::string& what) const;  // "VmRSS", "VmHWM"

 private:
  int reap(int status);

  pid_t pid_ = -1;
  int code_ = -1;
  bool ended_ = false;
};

int64_t now_us();  // CLOCK_MONOTONIC, which all processes share
uint16_t free_port();
int listen_on_loopback(uint16_t& port);  // port 0 picks a free port
void raise_file_limit();

// Set by SIGINT and SIGTERM, so that the benchmark can stop its children before it exits.
bool interrupted();
void catch_interrupts();

}  // namespace stoka::load
