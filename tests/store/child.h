// Work in a process of its own, for faults that end it or that need other rights.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>

namespace stoka::store {

// What `work` returned there.
std::string in_child(const std::function<std::string()>& work);

// The same without the rights of root, which no file mode can stop.
std::string as_nobody(const std::function<std::string()>& work);

// From now on this process cannot make a file longer than that.
void limit_file_size(uint64_t bytes);

// A process that works until it is killed; `work` must not return.
pid_t start_child(const std::function<void()>& work);
void kill_child(pid_t child);

}  // namespace stoka::store
