// Between the wire and what is said over it: a connection hands a request to a Handler and is its
// Client. All of it on the thread of the loop.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string_view>

#include "serve/client_address.h"
#include "serve/http.h"

namespace stoka::serve {

// The other side of a request, as long as it is there: not after respond(), end() or left().
class Client {
 public:
  virtual ~Client() = default;
  virtual const Address& address() const = 0;  // of the peer
  // The whole answer.
  virtual void respond(Response response) = 0;
  // The head of an event stream, then pieces of it. What arrives within one round of the loop
  // leaves in one write.
  virtual void begin_stream(Response head) = 0;
  virtual void send(std::string_view bytes) = 0;
  // The stream is whole. Close: nothing else is answered on this connection.
  virtual void end(bool close) = 0;
  // Bytes that the client has not taken yet.
  virtual size_t backlog() const = 0;
};

// An answer that takes time.
class Pending {
 public:
  virtual ~Pending() = default;
  // The client is gone: it must not be spoken to any more.
  virtual void left() = 0;
  // The client has taken all there was.
  virtual void drained() {}
  // From time to time.
  virtual void tick(std::chrono::steady_clock::time_point) {}
  // The server has no time left: what is to be said must be said now.
  virtual void shut_down() {}
};

class Handler {
 public:
  virtual ~Handler() = default;
  // Answers at once and returns null, or later.
  virtual std::shared_ptr<Pending> handle(Request request, Client& client) = 0;
  // An answer to what is no request. `head`: what could be read of it, or nothing.
  virtual Response refuse(const Request& head, int status, std::string_view why,
                          std::string_view hint) = 0;
};

}  // namespace stoka::serve
