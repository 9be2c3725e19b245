// A pool of threads for jobs that block.
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

// A pool; thread safe. Jobs start in the order in which they were posted.
class WorkerPool {
 public:
  // A job. `waited` is the time that it has spent in the queue.
  using Job = std::function<void(std::chrono::nanoseconds waited)>;

  WorkerPool(size_t threads, size_t max_waiting);
  ~WorkerPool();  // runs the queued jobs before it returns
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Returns false if the queue is full; the job is then not run.
  bool post(Job job);
  size_t waiting() const;

 private:
  struct Entry {
    Job job;
    std::chrono::steady_clock::time_point since;
  };
  void run();

  const size_t max_waiting_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Entry> queue_;
  bool closing_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace stoka::serve
