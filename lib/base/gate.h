// A bounded number of places, first come first served.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
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

  // A place in the queue, or behind it. Destroyed, it is given up.
  class Ticket {
   public:
    Ticket() = default;
    Ticket(Ticket&& other) noexcept = default;
    Ticket& operator=(Ticket&& other) noexcept;
    ~Ticket() { give_up(); }
    bool granted() const;
    Pass take();  // once, when granted

   private:
    friend class Gate;
    struct Waiter;
    explicit Ticket(std::shared_ptr<Waiter> waiter) : waiter_(std::move(waiter)) {}
    void give_up();
    std::shared_ptr<Waiter> waiter_;
  };

  Gate(std::string what, GateOptions options);

  // Waits for a place, no longer than `most` and the option. Errors: busy, when too many wait
  // already or the wait took too long; cancelled.
  Result<Pass> enter(std::stop_token stop,
                     std::chrono::milliseconds most = std::chrono::milliseconds::max());

  // For callers that do not block. `granted` is called on the thread that leaves a place, unless
  // the ticket is granted at once; it must not call the gate. How long it is waited is theirs to
  // say: too_long() is the error. A busy error when too many wait already.
  Result<Ticket> queue(std::function<void()> granted);
  Error too_long(std::chrono::milliseconds waited) const;
  std::chrono::milliseconds most_wait() const { return options_.most_wait; }

  const std::string& what() const { return what_; }
  size_t taken() const;
  size_t waiting() const;

 private:
  void release();
  void admit();  // with mutex_ held

  const std::string what_;  // "embedder": named in errors
  const GateOptions options_;
  mutable std::mutex mutex_;
  size_t taken_ = 0;
  std::deque<std::shared_ptr<Ticket::Waiter>> queue_;
};

}  // namespace stoka
