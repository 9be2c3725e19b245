// Keeps callers from queueing up at a server that is down.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>

namespace stoka::net {

struct BreakerOptions {
  int failures = 5;                      // in a row, until it opens
  std::chrono::milliseconds rest{5000};  // times the number of openings in a row
  std::chrono::milliseconds most_rest{60000};
};

// Closed: everybody may call. Open: nobody, for a while. Then one caller tries, and its outcome
// closes it or opens it for longer; if it says nothing for a rest, the next one tries. Threads:
// any. Times are of a monotonic clock, passed in.
class Breaker {
 public:
  using Time = std::chrono::nanoseconds;

  explicit Breaker(BreakerOptions options = {}) : options_(options) {}

  // How long nobody may call, if so: for who would have to wait before calling.
  std::optional<std::chrono::milliseconds> resting(Time now) const;
  // Nothing: call, and say how it went. Else how long nobody may.
  std::optional<std::chrono::milliseconds> closed_to_callers(Time now);
  // An answer has begun: who tries keeps the others out no longer, however long it takes. How it
  // went is still to be said.
  void answered();
  void succeeded();
  void failed(Time now);
  void abandoned();  // the call ended before it said anything about the server

 private:
  BreakerOptions options_;
  mutable std::mutex mutex_;
  int failures_ = 0;  // in a row
  int openings_ = 0;  // in a row; none: closed
  Time open_until_{};
  bool trying_ = false;  // one caller tries
};

}  // namespace stoka::net
