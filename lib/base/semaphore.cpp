#include "base/semaphore.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>

#include "base/clock.h"

namespace stoka {
namespace {

constexpr const char* kHint = "try again in a moment";

}  // namespace

Gate::Pass& Gate::Pass::operator=(Pass&& other) noexcept {
  if (this != &other) {
    leave();
    semaphore_ = std::exchange(other.semaphore_, nullptr);
  }
  return *this;
}

void Gate::Pass::leave() {
  if (Gate* semaphore = std::exchange(semaphore_, nullptr)) semaphore->release();
}

struct Gate::Ticket::Waiter {
  Gate& semaphore;
  std::function<void()> on_granted;
  bool granted = false;
};

Gate::Ticket& Gate::Ticket::operator=(Ticket&& other) noexcept {
  if (this != &other) {
    withdraw();
    waiter_ = std::move(other.waiter_);
  }
  return *this;
}

bool Gate::Ticket::granted() const {
  if (!waiter_) return false;
  const std::lock_guard lock(waiter_->semaphore.mutex_);
  return waiter_->granted;
}

Gate::Pass Gate::Ticket::take() {
  const auto waiter = std::exchange(waiter_, nullptr);
  return Pass(&waiter->semaphore);
}

void Gate::Ticket::withdraw() {
  const auto waiter = std::exchange(waiter_, nullptr);
  if (!waiter) return;
  Gate& semaphore = waiter->semaphore;
  const std::lock_guard lock(semaphore.mutex_);
  std::erase(semaphore.queue_, waiter);
  if (waiter->granted) --semaphore.in_use_;
  semaphore.grant_waiting();
}

Gate::Gate(std::string name, GateOptions options) : name_(std::move(name)), options_(options) {}

Result<Gate::Ticket> Gate::queue(std::function<void()> granted) {
  const std::lock_guard lock(mutex_);
  if (in_use_ >= options_.places && queue_.size() >= options_.most_waiting)
    return fail(ErrorKind::busy,
                fmt::format("{} is busy: {} callers are waiting already", name_, queue_.size()),
                kHint);
  Ticket ticket(std::make_shared<Ticket::Waiter>(*this, std::move(granted)));
  if (in_use_ < options_.places) {
    ++in_use_;
    ticket.waiter_->granted = true;
  } else {
    queue_.push_back(ticket.waiter_);
  }
  return ticket;
}

Error Gate::too_long(std::chrono::milliseconds waited) const {
  return {ErrorKind::busy,
          fmt::format("{} is busy: no permit became free within {}", name_, spoken(waited)), kHint};
}

Result<Gate::Pass> Gate::enter(std::stop_token stop, std::chrono::milliseconds limit) {
  if (stop.stop_requested()) return fail(ErrorKind::cancelled, "stopped");
  std::mutex mutex;
  std::condition_variable_any changed;
  bool granted = false;
  STOKA_ASSIGN(Ticket ticket, queue([&] {
                 const std::lock_guard lock(mutex);
                 granted = true;
                 changed.notify_all();
               }));
  if (ticket.granted()) return ticket.take();
  const auto wait = std::min(limit, options_.most_wait);
  {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, stop, wait, [&] { return granted; });
  }
  // The permit may have been granted after the wait ended. Withdrawing the ticket ends the calls to
  // the callback, which refers to local variables.
  if (ticket.granted()) return ticket.take();
  ticket = {};
  if (stop.stop_requested()) return fail(ErrorKind::cancelled, "stopped");
  return fail(too_long(wait));
}

size_t Gate::taken() const {
  const std::lock_guard lock(mutex_);
  return in_use_;
}

size_t Gate::waiting() const {
  const std::lock_guard lock(mutex_);
  return queue_.size();
}

void Gate::release() {
  const std::lock_guard lock(mutex_);
  --in_use_;
  grant_waiting();
}

void Gate::grant_waiting() {
  while (in_use_ < options_.places && !queue_.empty()) {
    const auto first = std::move(queue_.front());
    queue_.pop_front();
    ++in_use_;
    first->granted = true;
    first->on_granted();
  }
}

}  // namespace stoka
