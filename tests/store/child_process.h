// Functions that run in a child process, for tests that kill it or change its privileges.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace stoka::testing {

// Runs `work` in a child process and returns its result.
std::string run_in_child(const std::function<std::string()>& work);

// The same without root privileges, to which file modes do not apply.
std::string run_as_nobody(const std::function<std::string()>& work);

// Limits the size of files that this process can write from now on.
void limit_file_size(uint64_t bytes);

// A child process that runs until it is killed, at the latest when this object is destroyed or the
// parent ends.
class ChildProcess {
 public:
  explicit ChildProcess(const std::function<void()>& work);  // `work` must not return
  ChildProcess(ChildProcess&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess();

  pid_t pid() const { return pid_; }
  void kill();

 private:
  pid_t pid_;
};

}  // namespace stoka::testing
