// A bounded number of places, first come first served.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <stop_token>
#include <string>
#include <utility>

#include "base/result.h"

namespace stoka {

struct GateOptions {
  size_t places = 4;
  size_t most_waiting = 64;
  std::chrono::milliseconds most_wait{10000};
};

// Threads: any. Passes must not outlive the gate.
class Gate {
 public:
  // A place that is held as long as this lives.
  class Pass {
   public:
    Pass() = default;
    Pass(Pass&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)) {}
    Pass& operator=(Pass&& other) noexcept;
    ~Pass() { leave(); }
    void leave();

   private:
    friend class Gate;
    explicit Pass(Gate* gate) : gate_(gate) {}
    Gate* gate_ = nullptr;
  };

  Gate(std::string what, GateOptions options);

  // Waits for a place, no longer than `most` and the option. Errors: busy, when too many wait
  // already or the wait took too long; cancelled.
  Result<Pass> enter(std::stop_token stop,
                     std::chrono::milliseconds most = std::chrono::milliseconds::max());

  size_t waiting() const;

 private:
  void release();

  const std::string what_;  // "embedder": named in errors
  const GateOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  size_t taken_ = 0;
  uint64_t next_ = 0;
  std::deque<uint64_t> queue_;  // tickets of who waits
};

}  // namespace stoka
