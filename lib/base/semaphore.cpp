#include "base/semaphore.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>

#include "base/clock.h"

namespace stoka {
namespace {

constexpr const char* kHint = "try again in a moment";

}  // namespace

Semaphore::Permit& Semaphore::Permit::operator=(Permit&& other) noexcept {
  if (this != &other) {
    release();
    semaphore_ = std::exchange(other.semaphore_, nullptr);
  }
  return *this;
}

void Semaphore::Permit::release() {
  if (Semaphore* semaphore = std::exchange(semaphore_, nullptr)) semaphore->release();
}

struct Semaphore::Ticket::Waiter {
  Semaphore& semaphore;
  std::function<void()> on_granted;
  bool granted = false;
};

Semaphore::Ticket& Semaphore::Ticket::operator=(Ticket&& other) noexcept {
  if (this != &other) {
    withdraw();
    waiter_ = std::move(other.waiter_);
  }
  return *this;
}

bool Semaphore::Ticket::is_granted() const {
  if (!waiter_) return false;
  const std::lock_guard lock(waiter_->semaphore.mutex_);
  return waiter_->granted;
}

Semaphore::Permit Semaphore::Ticket::take() {
  const auto waiter = std::exchange(waiter_, nullptr);
  return Permit(&waiter->semaphore);
}

void Semaphore::Ticket::withdraw() {
  const auto waiter = std::exchange(waiter_, nullptr);
  if (!waiter) return;
  Semaphore& semaphore = waiter->semaphore;
  const std::lock_guard lock(semaphore.mutex_);
  std::erase(semaphore.queue_, waiter);
  if (waiter->granted) --semaphore.in_use_;
  semaphore.grant_waiting();
}

Semaphore::Semaphore(std::string name, SemaphoreOptions options)
    : name_(std::move(name)), options_(options) {}

Result<Semaphore::Ticket> Semaphore::queue(std::function<void()> granted) {
  const std::lock_guard lock(mutex_);
  if (in_use_ >= options_.permits && queue_.size() >= options_.max_waiting)
    return fail(ErrorKind::busy,
                fmt::format("{} is busy: {} callers are waiting already", name_, queue_.size()),
                kHint);
  Ticket ticket(std::make_shared<Ticket::Waiter>(*this, std::move(granted)));
  if (in_use_ < options_.permits) {
    ++in_use_;
    ticket.waiter_->granted = true;
  } else {
    queue_.push_back(ticket.waiter_);
  }
  return ticket;
}

Error Semaphore::wait_timeout_error(std::chrono::milliseconds waited) const {
  return {
      ErrorKind::busy,
      fmt::format("{} is busy: no permit became free within {}", name_, format_duration(waited)),
      kHint};
}

Result<Semaphore::Permit> Semaphore::acquire(std::stop_token stop,
                                             std::chrono::milliseconds limit) {
  if (stop.stop_requested()) return fail(ErrorKind::cancelled, "stopped");
  std::mutex mutex;
  std::condition_variable_any changed;
  bool granted = false;
  STOKA_ASSIGN(Ticket ticket, queue([&] {
                 const std::lock_guard lock(mutex);
                 granted = true;
                 changed.notify_all();
               }));
  if (ticket.is_granted()) return ticket.take();
  const auto wait = std::min(limit, options_.max_wait);
  {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, stop, wait, [&] { return granted; });
  }
  // The permit may have been granted after the wait ended. Withdrawing the ticket ends the calls to
  // the callback, which refers to local variables.
  if (ticket.is_granted()) return ticket.take();
  ticket = {};
  if (stop.stop_requested()) return fail(ErrorKind::cancelled, "stopped");
  return fail(wait_timeout_error(wait));
}

size_t Semaphore::in_use() const {
  const std::lock_guard lock(mutex_);
  return in_use_;
}

size_t Semaphore::waiting() const {
  const std::lock_guard lock(mutex_);
  return queue_.size();
}

void Semaphore::release() {
  const std::lock_guard lock(mutex_);
  --in_use_;
  grant_waiting();
}

void Semaphore::grant_waiting() {
  while (in_use_ < options_.permits && !queue_.empty()) {
    const auto first = std::move(queue_.front());
    queue_.pop_front();
    ++in_use_;
    first->granted = true;
    first->on_granted();
  }
}

}  // namespace stoka
