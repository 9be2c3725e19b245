// The interfaces between a connection, which speaks HTTP, and the site, which makes responses. All
// of them are used only on the thread of the event loop.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string_view>

#include "serve/client_address.h"
#include "serve/http.h"

namespace stoka::serve {

// Writes the response to one request. A writer must not be used after respond() or end(), nor after
// PendingResponse::on_disconnect().
class ResponseWriter {
 public:
  virtual ~ResponseWriter() = default;
  virtual const IpAddress& peer() const = 0;
  // Sends a complete response.
  virtual void respond(HttpResponse response) = 0;
  // Sends the head of an event stream; send() adds to its body. All bytes that are passed within
  // one round of the loop are sent with one system call.
  virtual void begin_stream(HttpResponse head) = 0;
  virtual void send(std::string_view bytes) = 0;
  // Ends the streamed response. If `close` is true, the connection is closed afterwards.
  virtual void end(bool close) = 0;
  // The number of bytes that the client has not received yet.
  virtual size_t backlog() const = 0;
};

// A response that is still being made when Handler::handle() returns.
class PendingResponse {
 public:
  virtual ~PendingResponse() = default;
  // Called when the client has disconnected: the ResponseWriter must not be used any more.
  virtual void on_disconnect() = 0;
  // Called when the client has received everything that was sent so far.
  virtual void on_drained() {}
  // Called about twice a second, for work that depends on time.
  virtual void tick(std::chrono::steady_clock::time_point) {}
  // Called when the server is about to stop: the response must end now.
  virtual void on_shutdown() {}
};

class Handler {
 public:
  virtual ~Handler() = default;
  // Handles a request. Returns null, or a response that will be sent later.
  virtual std::shared_ptr<PendingResponse> handle(HttpRequest request, ResponseWriter& writer) = 0;
  // Makes the response to bytes that are not a valid request. `head` is the head of the request as
  // far as it could be parsed; it may be empty.
  virtual HttpResponse refuse(const HttpRequest& head, int status, std::string_view why,
                              std::string_view hint) = 0;
};

}  // namespace stoka::serve
