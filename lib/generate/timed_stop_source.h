#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

namespace stoka::generate {

// A stop source that also stops when another token does, or after a timeout. Unlike a timeout of a
// net::Call, this timeout may cover several calls, and the circuit breaker does not count it as a
// failure. The token is valid until the source is destroyed. A thread runs from stop_after() until
// then.
class TimedStopSource {
 public:
  explicit TimedStopSource(std::stop_token outer) : forward_(std::move(outer), Forward{source_}) {}

  // Starts the timeout. May be called only once.
  void stop_after(std::chrono::milliseconds after) {
    timer_ = std::jthread([this, after](std::stop_token destroyed) {
      std::mutex mutex;
      std::condition_variable_any wake;
      std::unique_lock lock(mutex);
      wake.wait_for(lock, destroyed, after, [] { return false; });
      if (!destroyed.stop_requested()) source_.request_stop();
    });
  }
  std::stop_token token() const { return source_.get_token(); }

 private:
  struct Forward {
    std::stop_source& source;
    void operator()() const { source.request_stop(); }
  };

  std::stop_source source_;
  std::stop_callback<Forward> forward_;
  std::jthread timer_;
};

}  // namespace stoka::generate
