// The carrier that is the network: libcurl, http and https and nothing else.
#pragma once

#include <memory>

#include "net/transport.h"

namespace stoka::net {

// Keeps connections alive between exchanges. No thread of its own: each exchange runs on the thread
// that asks for it. Threads: any. The program must ignore SIGPIPE, which TLS may raise.
class Client final : public Transport {
 public:
  Client();
  ~Client() override;
  std::optional<Failure> perform(const Request& request, Listener& listener,
                                 std::stop_token stop) override;

 private:
  struct Pool;
  std::unique_ptr<Pool> pool_;
};

}  // namespace stoka::net
