#include "net/client.h"

#include "net/loop.h"

namespace stoka::net {

std::unique_ptr<Transfer> Client::start(Loop& loop, const Request& request, Listener& listener,
                                        Done done) {
  return loop.carry(request, listener, std::move(done));
}

}  // namespace stoka::net
