// Limits how often one client may ask: an exact sliding window log in bounded memory.
#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stoka::serve {

// A limiter; not thread safe. `now` is the time of a monotonic clock.
class RateLimiter {
 public:
  // Admits at most `requests` of a client in any `window`; 0 means no limit. When there are more
  // than `max_clients`, the client whose last request is the oldest is forgotten.
  RateLimiter(size_t requests, std::chrono::seconds window, size_t max_clients = 20000);
  RateLimiter(RateLimiter&&) = default;  // not copied: a copy would point into the original
  RateLimiter& operator=(RateLimiter&&) = default;

  // Returns nullopt if the request is admitted. Otherwise returns after how many seconds, at least
  // 1, the same request will be admitted if no other comes before it. A refused request does not
  // count.
  std::optional<std::chrono::seconds> admit(std::string_view client, std::chrono::nanoseconds now);

  // How many more requests of the client would be admitted now. There must be a limit.
  size_t remaining(std::string_view client, std::chrono::nanoseconds now) const;
  size_t requests() const { return requests_; }

  // The number of clients that have an entry.
  size_t clients() const { return by_name_.size(); }

 private:
  struct Client {
    std::string name;
    // The times of the last `requests_` admitted requests. A full list is a ring buffer, whose
    // oldest entry is at `oldest`.
    std::vector<std::chrono::nanoseconds> admitted;
    size_t oldest = 0;
    std::chrono::nanoseconds last_request{0};
  };

  Client& client(std::string_view name, std::chrono::nanoseconds now);
  void forget_oldest();

  size_t requests_;
  std::chrono::nanoseconds window_;
  size_t max_clients_;
  std::list<Client> clients_;  // clients by their last request, the most recent first
  std::unordered_map<std::string_view, std::list<Client>::iterator> by_name_;
};

}  // namespace stoka::serve
