#include "serve/rate_limit.h"

#include <algorithm>

namespace stoka::serve {

RateLimit::RateLimit(size_t requests, std::chrono::seconds window, size_t most_clients)
    : requests_(requests), window_(window), most_clients_(std::max<size_t>(most_clients, 1)) {}

std::optional<std::chrono::seconds> RateLimit::admit(std::string_view name,
                                                     std::chrono::nanoseconds now) {
  if (requests_ == 0) return std::nullopt;
  Client& who = client(name, now);
  if (who.admitted.size() < requests_) {
    who.admitted.push_back(now);
    return std::nullopt;
  }
  // The window holds a full log as long as it holds the oldest entry.
  std::chrono::nanoseconds& oldest = who.admitted[who.oldest];
  const std::chrono::nanoseconds wait = oldest + window_ - now;
  if (wait > std::chrono::nanoseconds(0)) return std::chrono::ceil<std::chrono::seconds>(wait);
  oldest = now;
  who.oldest = (who.oldest + 1) % requests_;
  return std::nullopt;
}

size_t RateLimit::left(std::string_view name, std::chrono::nanoseconds now) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return requests_;
  const auto& admitted = found->second->admitted;
  const auto within = std::count_if(admitted.begin(), admitted.end(),
                                    [&](auto then) { return then + window_ > now; });
  return requests_ - static_cast<size_t>(within);
}

RateLimit::Client& RateLimit::client(std::string_view name, std::chrono::nanoseconds now) {
  // Whoever has not asked for a whole window has an empty log: nothing is lost with it.
  while (!clients_.empty() && now - clients_.back().asked >= window_) forget_last();
  if (const auto found = by_name_.find(name); found != by_name_.end()) {
    clients_.splice(clients_.begin(), clients_, found->second);
  } else {
    if (clients_.size() >= most_clients_) forget_last();
    clients_.emplace_front();
    clients_.front().name = name;
    by_name_.emplace(clients_.front().name, clients_.begin());
  }
  clients_.front().asked = now;
  return clients_.front();
}

void RateLimit::forget_last() {
  by_name_.erase(clients_.back().name);
  clients_.pop_back();
}

}  // namespace stoka::serve
