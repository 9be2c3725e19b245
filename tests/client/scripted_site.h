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
  std::optional<net::TransferFailure> failure = {};
  std::optional<int> requests_left = {};
};

class ScriptedSite final : public net::SynchronousTransport {
 public:
  explicit ScriptedSite(std::function<Reply(const net::HttpRequest&)> answer,
                        size_t piece_bytes = 4096)
      : answer_(std::move(answer)), piece_bytes_(piece_bytes) {}
  explicit ScriptedSite(Reply reply, size_t piece_bytes = 4096)
      : ScriptedSite([reply = std::move(reply)](const net::HttpRequest&) { return reply; },
                     piece_bytes) {}

  std::optional<net::TransferFailure> perform(const net::HttpRequest& request,
                                              net::BodySink& listener,
                                              std::stop_token stop) override {
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
    }
    const net::TransferFailure stopped{Error(ErrorKind::cancelled, "stopped"), true, true};
    if (stop.stop_requested()) return stopped;
    const Reply reply = answer_(request);
    if (reply.failure && !reply.failure->answered) return reply.failure;
    const net::ResponseHead head{
        reply.status, reply.type, reply.retry_after, {}, reply.requests_left};
    if (auto result = listener.head(head); !result)
      return net::TransferFailure{result.error(), true, true};
    bool ending = false;
    for (size_t at = 0; at < reply.body.size(); at += piece_bytes_) {
      if (stop.stop_requested()) return stopped;
      const auto received = listener.body(std::string_view(reply.body).substr(at, piece_bytes_));
      if (!received) return net::TransferFailure{received.error(), true, true};
      if (*received == net::BodyProgress::stop_reading) return std::nullopt;
      ending = ending || *received == net::BodyProgress::content_complete;
    }
    return ending ? std::nullopt : reply.failure;
  }

  std::vector<net::HttpRequest> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  const std::function<Reply(const net::HttpRequest&)> answer_;
  const size_t piece_bytes_;
  mutable std::mutex mutex_;
  std::vector<net::HttpRequest> requests_;
};

}  // namespace stoka::testing
