// A model server whose every token is sent by the test.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "support/sockets.h"

namespace stoka::testing {

class ScriptedModel {
 public:
  // A request for a chat completion, and its response.
  class Request {
   public:
    void send_head();
    void send_text(const std::string& text);
    void finish();
    // Whether the client disconnects within 20 seconds.
    bool client_disconnected() const;
    void close() { socket_.close(); }

    std::string body;  // of the request

   private:
    friend class ScriptedModel;
    Request(Descriptor socket, std::string text)
        : body(std::move(text)), socket_(std::move(socket)) {}
    void send(std::string_view bytes);

    Descriptor socket_;
  };

  std::string url() const { return listener_.url(); }
  // Whether a request arrives within that time.
  bool has_request(int milliseconds) const {
    return wait_until_readable(listener_.fd(), std::chrono::milliseconds(milliseconds));
  }
  // Waits for the next request and reads it.
  Request next();

 private:
  const Listener listener_;
};

}  // namespace stoka::testing
