// A transport that returns scripted replies, without a socket.
#pragma once

#include <algorithm>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "net/transport.h"

namespace stoka::testing {

struct Reply {
  int status = 200;
  std::string type = "application/json";
  std::string body = {};
  std::optional<std::chrono::seconds> retry_after = {};
  // How the reply ends. A failure that is not `answered` comes before the head.
  std::optional<net::Failure> failure = {};
  std::optional<int> requests_left = {};
};

class ScriptedSite final : public net::Immediate {
 public:
  explicit ScriptedSite(std::function<Reply(const net::Request&)> answer, size_t piece_bytes = 4096)
      : answer_(std::move(answer)), piece_bytes_(piece_bytes) {}
  explicit ScriptedSite(Reply reply, size_t piece_bytes = 4096)
      : ScriptedSite([reply = std::move(reply)](const net::Request&) { return reply; },
                     piece_bytes) {}

  std::optional<net::Failure> perform(const net::Request& request, net::Listener& listener,
                                      std::stop_token stop) override {
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
    }
    const net::Failure stopped{Error(ErrorKind::cancelled, "stopped"), true, true};
    if (stop.stop_requested()) return stopped;
    const Reply reply = answer_(request);
    if (reply.failure && !reply.failure->answered) return reply.failure;
    const net::Head head{reply.status, reply.type, reply.retry_after, {}, reply.requests_left};
    if (auto result = listener.head(head); !result) return net::Failure{result.error(), true, true};
    bool ending = false;
    for (size_t at = 0; at < reply.body.size(); at += piece_bytes_) {
      if (stop.stop_requested()) return stopped;
      const auto received = listener.body(std::string_view(reply.body).substr(at, piece_bytes_));
      if (!received) return net::Failure{received.error(), true, true};
      if (*received == net::Heard::enough) return std::nullopt;
      ending = ending || *received == net::Heard::ending;
    }
    return ending ? std::nullopt : reply.failure;
  }

  std::vector<net::Request> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  const std::function<Reply(const net::Request&)> answer_;
  const size_t piece_bytes_;
  mutable std::mutex mutex_;
  std::vector<net::Request> requests_;
};

}  // namespace stoka::testing
