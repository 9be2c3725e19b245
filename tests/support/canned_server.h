// A server without an HTTP implementation.
#pragma once

#include <string>
#include <thread>

#include "support/sockets.h"

namespace stoka::testing {

// Answers the first request of each connection with fixed bytes and closes the connection. A
// request is a whole HTTP request, or the first bytes of another protocol.
class CannedServer {
 public:
  explicit CannedServer(std::string answer);
  ~CannedServer();
  CannedServer(const CannedServer&) = delete;
  CannedServer& operator=(const CannedServer&) = delete;

  uint16_t port() const { return listener_.port(); }
  std::string url() const { return listener_.url(); }

 private:
  void serve();

  const std::string answer_;
  const Listener listener_;
  std::thread thread_;
};

}  // namespace stoka::testing
