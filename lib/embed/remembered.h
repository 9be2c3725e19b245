// What a server said about itself, asked anew after a minute.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>

#include "base/clock.h"
#include "base/result.h"

namespace stoka::embed {

// Threads: any. Nobody waits for another's question: two may ask at once. The clock must outlive
// it.
template <class T>
class Remembered {
 public:
  explicit Remembered(const Clock& clock) : clock_(clock) {}

  template <class Ask>
  Result<T> get(const Ask& ask) {
    const std::chrono::nanoseconds now = clock_.monotonic();
    {
      const std::lock_guard lock(mutex_);
      if (value_ && now - since_ < std::chrono::minutes(1)) return *value_;
    }
    Result<T> asked = ask();
    const std::lock_guard lock(mutex_);
    if (asked) {
      value_ = *asked;
      since_ = now;
    }
    return asked;
  }

  void forget() {
    const std::lock_guard lock(mutex_);
    value_.reset();
  }

 private:
  const Clock& clock_;
  std::mutex mutex_;
  std::optional<T> value_;
  std::chrono::nanoseconds since_{};
};

}  // namespace stoka::embed
