// Work in a process of its own, for faults that end it or that need other rights.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace stoka::store {

// What `work` returned there.
std::string in_child(const std::function<std::string()>& work);

// The same without the rights of root, which no file mode can stop.
std::string as_nobody(const std::function<std::string()>& work);

// From now on this process cannot make a file longer than that.
void limit_file_size(uint64_t bytes);

// A process that works until it is killed, at the latest when this object or its parent goes.
class Child {
 public:
  explicit Child(const std::function<void()>& work);  // `work` must not return
  Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  Child& operator=(Child&&) = delete;
  ~Child();

  pid_t pid() const { return pid_; }
  void kill();

 private:
  pid_t pid_;
};

}  // namespace stoka::store
