#include "base/gate.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/spoken.h"

namespace stoka {

Gate::Pass& Gate::Pass::operator=(Pass&& other) noexcept {
  if (this != &other) {
    leave();
    gate_ = std::exchange(other.gate_, nullptr);
  }
  return *this;
}

void Gate::Pass::leave() {
  if (Gate* gate = std::exchange(gate_, nullptr)) gate->release();
}

Gate::Gate(std::string what, GateOptions options) : what_(std::move(what)), options_(options) {}

Result<Gate::Pass> Gate::enter(std::stop_token stop, std::chrono::milliseconds most) {
  const auto hint = "try again in a moment";
  std::unique_lock lock(mutex_);
  if (stop.stop_requested()) return fail(ErrorKind::cancelled, "stopped");
  if (taken_ < options_.places && queue_.empty()) {
    ++taken_;
    return Pass(this);
  }
  if (queue_.size() >= options_.most_waiting)
    return fail(ErrorKind::busy,
                fmt::format("{} is busy: {} callers wait already", what_, queue_.size()), hint);

  const uint64_t ticket = next_++;
  queue_.push_back(ticket);
  const auto wait = std::min(most, options_.most_wait);
  const bool mine = changed_.wait_for(
      lock, stop, wait, [&] { return taken_ < options_.places && queue_.front() == ticket; });
  std::erase(queue_, ticket);
  if (mine) ++taken_;
  changed_.notify_all();  // whoever is first now may find a place
  if (mine) return Pass(this);
  if (stop.stop_requested()) return fail(ErrorKind::cancelled, "stopped");
  return fail(ErrorKind::busy, fmt::format("{} is busy: no place after {}", what_, spoken(wait)),
              hint);
}

size_t Gate::waiting() const {
  const std::lock_guard lock(mutex_);
  return queue_.size();
}

void Gate::release() {
  const std::lock_guard lock(mutex_);
  --taken_;
  changed_.notify_all();
}

}  // namespace stoka
