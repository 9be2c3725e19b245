// How often one client may ask: an exact sliding log of what was admitted, in bounded memory.
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

// Not thread safe.
class RateLimit {
 public:
  // At most `requests` in any `window`; 0: no limit. Of more clients than `most_clients` the one
  // that has not asked for longest is forgotten.
  RateLimit(size_t requests, std::chrono::seconds window, size_t most_clients = 20000);
  RateLimit(RateLimit&&) = default;  // a copy would point into this one
  RateLimit& operator=(RateLimit&&) = default;

  // Nothing: admitted. Else refused, and after how many seconds, at least 1, the same request is
  // admitted if no other comes before it. What is refused does not count. `now` is monotonic.
  std::optional<std::chrono::seconds> admit(std::string_view client, std::chrono::nanoseconds now);

  // How many more requests of the client would be admitted now. Only where there is a limit.
  size_t left(std::string_view client, std::chrono::nanoseconds now) const;
  size_t requests() const { return requests_; }

  // Those that are remembered.
  size_t clients() const { return by_name_.size(); }

 private:
  struct Client {
    std::string name;
    // The last `requests_` times it was admitted: a ring once it is full, its oldest at `oldest`.
    std::vector<std::chrono::nanoseconds> admitted;
    size_t oldest = 0;
    std::chrono::nanoseconds asked{0};
  };

  Client& client(std::string_view name, std::chrono::nanoseconds now);
  void forget_last();

  size_t requests_;
  std::chrono::nanoseconds window_;
  size_t most_clients_;
  std::list<Client> clients_;  // who asked last stands first
  std::unordered_map<std::string_view, std::list<Client>::iterator> by_name_;
};

}  // namespace stoka::serve
