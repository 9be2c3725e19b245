#include "net/breaker.h"

#include <algorithm>

namespace stoka::net {
namespace {

std::chrono::milliseconds up_to(Breaker::Time duration) {
  return std::chrono::ceil<std::chrono::milliseconds>(duration);
}

}  // namespace

std::optional<std::chrono::milliseconds> Breaker::resting(Time now) const {
  const std::lock_guard lock(mutex_);
  if (openings_ == 0 || now >= open_until_) return std::nullopt;
  return up_to(open_until_ - now);
}

std::optional<std::chrono::milliseconds> Breaker::closed_to_callers(Time now) {
  const std::lock_guard lock(mutex_);
  if (openings_ == 0) return std::nullopt;
  if (now < open_until_) return up_to(open_until_ - now);
  trying_ = true;
  open_until_ = now + options_.rest;
  return std::nullopt;
}

void Breaker::answered() {
  const std::lock_guard lock(mutex_);
  if (!trying_) return;
  trying_ = false;
  openings_ = 0;  // failures_ stay: the next failure opens it again
}

void Breaker::succeeded() {
  const std::lock_guard lock(mutex_);
  failures_ = 0;
  openings_ = 0;
  trying_ = false;
}

void Breaker::failed(Time now) {
  const std::lock_guard lock(mutex_);
  // Calls that began before it opened fail one after the other: they are old news.
  const bool opens = openings_ == 0 ? ++failures_ >= options_.failures : trying_;
  if (!opens) return;
  trying_ = false;
  ++openings_;
  open_until_ = now + std::min(options_.rest * openings_, options_.most_rest);
}

void Breaker::abandoned() {
  const std::lock_guard lock(mutex_);
  if (!trying_) return;
  trying_ = false;
  open_until_ = Time{};
}

}  // namespace stoka::net
