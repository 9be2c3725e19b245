// A stop that comes from outside or when a time is up, whichever is first.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <thread>

namespace stoka::generate {

// The token is good until this is destroyed; a thread lives from set() until then.
class Alarm {
 public:
  explicit Alarm(std::stop_token outer) : forward_(std::move(outer), Forward{source_}) {}

  void set(std::chrono::milliseconds after);  // once
  std::stop_token token() const { return source_.get_token(); }

 private:
  struct Forward {
    std::stop_source& source;
    void operator()() const { source.request_stop(); }
  };

  std::stop_source source_;
  std::stop_callback<Forward> forward_;
  std::jthread timer_;
};

}  // namespace stoka::generate
