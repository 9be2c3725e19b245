// The deadline of one piece of work, however many requests it takes.
#pragma once

#include <algorithm>
#include <chrono>

namespace stoka::net {

class Deadline {
 public:
  using Milliseconds = std::chrono::milliseconds;

  // The time starts at the construction. A total of zero means no deadline.
  explicit Deadline(Milliseconds total) : total_(total) {}

  // The remaining time, at most `most`, as a value of net::Call::timeout. A timeout of zero means
  // no limit, so one millisecond remains after the deadline has passed.
  Milliseconds remaining(Milliseconds most = Milliseconds::max()) const {
    if (total_.count() == 0) return most == Milliseconds::max() ? Milliseconds(0) : most;
    const auto spent = std::chrono::ceil<Milliseconds>(std::chrono::steady_clock::now() - start_);
    return std::clamp(total_ - spent, Milliseconds(1), most);
  }

 private:
  const Milliseconds total_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace stoka::net
