// A few threads for what blocks.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/result.h"

namespace stoka::serve {

// Threads: any. First come, first served.
class Workers {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // `late`: how long the job has waited for its turn.
  using Job = std::function<void(std::chrono::nanoseconds late)>;

  Workers(size_t threads, size_t most_waiting);
  ~Workers();  // does what is queued first
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // False: too many wait already, and the job is not done.
  bool post(Job job);
  size_t waiting() const;

 private:
  struct Entry {
    Job job;
    Time since;
  };
  void work();

  const size_t most_waiting_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Entry> queue_;
  bool closing_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace stoka::serve
