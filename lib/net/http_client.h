// The transport over the network, with libcurl. Only http and https addresses are accepted.
#pragma once

#include <memory>

#include "net/event_loop.h"

namespace stoka::net {

// Each event loop keeps its connections alive. The program must ignore SIGPIPE, which TLS may
// raise.
class HttpClient final : public Transport {
 public:
  std::unique_ptr<Transfer> start(EventLoop& loop, const HttpRequest& request, BodySink& sink,
                                  CompletionCallback done) override {
    return loop.start_transfer(request, sink, std::move(done));
  }
};

}  // namespace stoka::net
