// A cache for one value that expires after a fixed time.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>

#include "base/clock.h"
#include "base/result.h"

namespace stoka::embed {

// All members may be called from any thread. If several threads find the value expired at the
// same time, each thread loads it without waiting for the others. The clock must outlive the cache.
template <class T>
class TtlCache {
 public:
  TtlCache(const Clock& clock, std::chrono::nanoseconds ttl) : clock_(clock), ttl_(ttl) {}

  // Returns the cached value, or calls `load` and caches what it returns. The error of a failed
  // load is returned and not cached; a value stored meanwhile by another thread stays.
  template <class Load>
  Result<T> get(const Load& load) {
    const std::chrono::nanoseconds now = clock_.monotonic();
    {
      const std::lock_guard lock(mutex_);
      if (value_ && now - stored_at_ < ttl_) return *value_;
    }
    Result<T> loaded = load();
    const std::lock_guard lock(mutex_);
    if (loaded) {
      value_ = *loaded;
      stored_at_ = now;
    }
    return loaded;
  }

  void clear() {
    const std::lock_guard lock(mutex_);
    value_.reset();
  }

 private:
  const Clock& clock_;
  const std::chrono::nanoseconds ttl_;
  std::mutex mutex_;
  std::optional<T> value_;
  std::chrono::nanoseconds stored_at_{};
};

}  // namespace stoka::embed
