#include "serve/worker_pool.h"

#include <utility>

namespace stoka::serve {

WorkerPool::WorkerPool(size_t threads, size_t max_waiting) : max_waiting_(max_waiting) {
  for (size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  threads_.clear();
}

bool WorkerPool::post(Job job) {
  {
    const std::lock_guard lock(mutex_);
    if (queue_.size() >= max_waiting_) return false;
    queue_.push_back({std::move(job), std::chrono::steady_clock::now()});
  }
  changed_.notify_one();
  return true;
}

size_t WorkerPool::waiting() const {
  const std::lock_guard lock(mutex_);
  return queue_.size();
}

void WorkerPool::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return closing_ || !queue_.empty(); });
    if (queue_.empty()) return;
    Entry entry = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    entry.job(std::chrono::steady_clock::now() - entry.since);
    entry.job = nullptr;  // destroys what the job holds, before the lock is taken
    lock.lock();
  }
}

}  // namespace stoka::serve
