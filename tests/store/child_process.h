// Work in a process of its own, for faults that end it or that need other rights.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace stoka::store {

// What `work` returned there.
std::string run_in_child(const std::function<std::string()>& work);

// The same without the rights of root, which no file mode can stop.
std::string run_as_nobody(const std::function<std::string()>& work);

// From now on this process cannot make a file longer than that.
void limit_file_size(uint64_t bytes);

// A process that works until it is killed, at the latest when this object or its parent goes.
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

}  // namespace stoka::store
