#include "support/canned_server.h"

#include <utility>

#include "support/upstream/http_socket.h"

namespace stoka::testing {

CannedServer::CannedServer(std::string answer)
    : answer_(std::move(answer)), thread_([this] { serve(); }) {}

CannedServer::~CannedServer() {
  listener_.shut_down();
  thread_.join();
}

void CannedServer::serve() {
  while (const Descriptor client = listener_.accept()) {
    // An unread rest of the request would reset the connection, and the answer would be lost.
    HttpSocket(client.get()).read();
    send_all(client.get(), answer_);
  }
}

}  // namespace stoka::testing
