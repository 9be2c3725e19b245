// The time for one piece of work, whatever number of requests it takes.
#pragma once

#include <algorithm>
#include <chrono>

namespace stoka::net {

class TimeLeft {
 public:
  using Milliseconds = std::chrono::milliseconds;

  // Begins now; zero: no end.
  explicit TimeLeft(Milliseconds total) : total_(total) {}

  // What is left, no more than `most`, as net::Call::total takes it: zero is no end, so what has
  // run out is a millisecond.
  Milliseconds left(Milliseconds most = Milliseconds::max()) const {
    if (total_.count() == 0) return most == Milliseconds::max() ? Milliseconds(0) : most;
    const auto spent = std::chrono::ceil<Milliseconds>(std::chrono::steady_clock::now() - start_);
    return std::clamp(total_ - spent, Milliseconds(1), most);
  }

 private:
  const Milliseconds total_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace stoka::net
