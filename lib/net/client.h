// The carrier that is the network: libcurl, http and https and nothing else.
#pragma once

#include <memory>

#include "net/transport.h"

namespace stoka::net {

// Connections are kept alive by the loop that made them. The program must ignore SIGPIPE, which TLS
// may raise.
class Client final : public Transport {
 public:
  std::unique_ptr<Transfer> start(Loop& loop, const Request& request, Listener& listener,
                                  Done done) override;
};

}  // namespace stoka::net
