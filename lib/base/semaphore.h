// A fair counting semaphore: a bounded number of permits, granted in the order of the requests.
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

struct SemaphoreOptions {
  size_t permits = 4;       // how many permits there are
  size_t max_waiting = 64;  // how many requests may wait; further requests are refused as busy
  std::chrono::milliseconds max_wait{10000};
};

// The semaphore is thread safe. Permits and tickets must not outlive it.
class Semaphore {
 public:
  // Holds one permit. The destructor releases it.
  class Permit {
   public:
    Permit() = default;
    Permit(Permit&& other) noexcept : semaphore_(std::exchange(other.semaphore_, nullptr)) {}
    Permit& operator=(Permit&& other) noexcept;
    ~Permit() { release(); }
    void release();  // does nothing if no permit is held

   private:
    friend class Semaphore;
    explicit Permit(Semaphore* semaphore) : semaphore_(semaphore) {}
    Semaphore* semaphore_ = nullptr;
  };

  // A request for a permit, which waits in the queue or is granted. The destructor withdraws the
  // request or releases the permit that was not taken.
  class Ticket {
   public:
    Ticket() = default;
    Ticket(Ticket&& other) noexcept = default;
    Ticket& operator=(Ticket&& other) noexcept;
    ~Ticket() { withdraw(); }
    bool is_granted() const;
    Permit take();  // takes the permit; may be called once, and only if granted() is true

   private:
    friend class Semaphore;
    struct Waiter;
    explicit Ticket(std::shared_ptr<Waiter> waiter) : waiter_(std::move(waiter)) {}
    void withdraw();
    std::shared_ptr<Waiter> waiter_;
  };

  Semaphore(std::string name, SemaphoreOptions options);

  // Blocks until a permit is granted, at most for the shorter of `limit` and the option max_wait.
  // Fails as busy if too many requests wait already or the time is over, or as cancelled.
  Result<Permit> acquire(std::stop_token stop,
                         std::chrono::milliseconds limit = std::chrono::milliseconds::max());

  // Requests a permit without blocking. If a permit is free, the ticket is granted at once and
  // `granted` is never called. Else `granted` is called later, on the thread that releases a
  // permit; the callback must not call the semaphore. The caller decides how long to wait, and then
  // reports wait_timeout_error(). Fails as busy if too many requests wait already.
  Result<Ticket> queue(std::function<void()> granted);
  Error wait_timeout_error(std::chrono::milliseconds waited) const;
  std::chrono::milliseconds max_wait() const { return options_.max_wait; }

  const std::string& name() const { return name_; }
  size_t in_use() const;
  size_t waiting() const;

 private:
  void release();
  void grant_waiting();  // called only while mutex_ is held

  const std::string name_;  // the name of the resource for error messages, e.g. "embedder"
  const SemaphoreOptions options_;
  mutable std::mutex mutex_;
  size_t in_use_ = 0;
  std::deque<std::shared_ptr<Ticket::Waiter>> queue_;
};

}  // namespace stoka
