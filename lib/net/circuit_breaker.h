// A circuit breaker: calls to a server that is down fail at once instead of waiting for it.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>

namespace stoka::net {

struct CircuitBreakerOptions {
  int failure_threshold = 5;  // how many consecutive failures open the breaker
  // How long the breaker stays open: open_duration times the number of openings in succession, up
  // to the maximum.
  std::chrono::milliseconds open_duration{5000};
  std::chrono::milliseconds max_open_duration{60000};
};

// A breaker that any thread may use. Closed: all calls pass. Open: no call passes for a while.
// Half-open: one trial call passes, and its outcome closes the breaker or opens it for longer; if
// the trial reports nothing for open_duration, another call passes. Times are of a monotonic clock.
class CircuitBreaker {
 public:
  using Time = std::chrono::nanoseconds;

  explicit CircuitBreaker(CircuitBreakerOptions options = {}) : options_(options) {}

  // How long the breaker will stay open; nothing if it is not open. The function starts no call.
  std::optional<std::chrono::milliseconds> open_for(Time now) const;
  // Asks for permission to call. If the result is empty, the call may proceed and must report its
  // outcome; otherwise the result is how long the breaker will stay open.
  std::optional<std::chrono::milliseconds> begin_call(Time now);
  // A response has begun. If it is the trial call's response, other calls pass from now on, however
  // long the response takes. The outcome must still be reported.
  void response_began();
  void succeeded();
  void failed(Time now);
  void abandoned();  // the call ended and says nothing about the server

 private:
  CircuitBreakerOptions options_;
  mutable std::mutex mutex_;
  int failures_ = 0;  // the number of consecutive failures
  int openings_ = 0;  // how often in succession the breaker has opened; zero while it is closed
  Time open_until_{};
  bool trial_running_ = false;
};

}  // namespace stoka::net
