#include "serve/rate_limiter.h"

#include <algorithm>

namespace stoka::serve {

RateLimiter::RateLimiter(size_t requests, std::chrono::seconds window, size_t max_clients)
    : requests_(requests), window_(window), max_clients_(std::max<size_t>(max_clients, 1)) {}

std::optional<std::chrono::seconds> RateLimiter::admit(std::string_view name,
                                                       std::chrono::nanoseconds now) {
  if (requests_ == 0) return std::nullopt;
  Client& log = client(name, now);
  if (log.admitted.size() < requests_) {
    log.admitted.push_back(now);
    return std::nullopt;
  }
  // The client's log is full, so the limit is reached while the oldest entry is within the window.
  std::chrono::nanoseconds& oldest = log.admitted[log.oldest];
  const std::chrono::nanoseconds wait = oldest + window_ - now;
  if (wait > std::chrono::nanoseconds(0)) return std::chrono::ceil<std::chrono::seconds>(wait);
  oldest = now;
  log.oldest = (log.oldest + 1) % requests_;
  return std::nullopt;
}

size_t RateLimiter::remaining(std::string_view name, std::chrono::nanoseconds now) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return requests_;
  const auto& admitted = found->second->admitted;
  const auto within = std::count_if(admitted.begin(), admitted.end(),
                                    [&](auto then) { return then + window_ > now; });
  return requests_ - static_cast<size_t>(within);
}

RateLimiter::Client& RateLimiter::client(std::string_view name, std::chrono::nanoseconds now) {
  // A client without a request in the last window is removed.
  while (!clients_.empty() && now - clients_.back().last_request >= window_) forget_oldest();
  if (const auto found = by_name_.find(name); found != by_name_.end()) {
    clients_.splice(clients_.begin(), clients_, found->second);
  } else {
    if (clients_.size() >= max_clients_) forget_oldest();
    clients_.emplace_front();
    clients_.front().name = name;
    by_name_.emplace(clients_.front().name, clients_.begin());
  }
  clients_.front().last_request = now;
  return clients_.front();
}

void RateLimiter::forget_oldest() {
  by_name_.erase(clients_.back().name);
  clients_.pop_back();
}

}  // namespace stoka::serve
