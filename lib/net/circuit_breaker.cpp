#include "net/circuit_breaker.h"

#include <algorithm>

namespace stoka::net {
namespace {

std::chrono::milliseconds round_up(CircuitBreaker::Time duration) {
  return std::chrono::ceil<std::chrono::milliseconds>(duration);
}

}  // namespace

std::optional<std::chrono::milliseconds> CircuitBreaker::open_for(Time now) const {
  const std::lock_guard lock(mutex_);
  if (openings_ == 0 || now >= open_until_) return std::nullopt;
  return round_up(open_until_ - now);
}

std::optional<std::chrono::milliseconds> CircuitBreaker::begin_call(Time now) {
  const std::lock_guard lock(mutex_);
  if (openings_ == 0) return std::nullopt;
  if (now < open_until_) return round_up(open_until_ - now);
  trial_running_ = true;
  open_until_ = now + options_.open_duration;
  return std::nullopt;
}

void CircuitBreaker::response_began() {
  const std::lock_guard lock(mutex_);
  if (!trial_running_) return;
  trial_running_ = false;
  openings_ = 0;  // failures_ keeps its value, so the next failure opens the breaker again
}

void CircuitBreaker::succeeded() {
  const std::lock_guard lock(mutex_);
  failures_ = 0;
  openings_ = 0;
  trial_running_ = false;
}

void CircuitBreaker::failed(Time now) {
  const std::lock_guard lock(mutex_);
  // Failures of calls that began before the breaker opened must not extend it.
  const bool opens = openings_ == 0 ? ++failures_ >= options_.failure_threshold : trial_running_;
  if (!opens) return;
  trial_running_ = false;
  ++openings_;
  open_until_ = now + std::min(options_.open_duration * openings_, options_.max_open_duration);
}

void CircuitBreaker::abandoned() {
  const std::lock_guard lock(mutex_);
  if (!trial_running_) return;
  trial_running_ = false;
  open_until_ = Time{};
}

}  // namespace stoka::net
