// One connection of the fake server: reads requests and sends responses at a given pace.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "support/upstream/behaviour.h"
#include "support/upstream/messages.h"

namespace stoka::testing {

// Does not own the socket. If another thread calls shutdown() on it, every wait ends.
class HttpSocket {
 public:
  explicit HttpSocket(int fd) : fd_(fd) {}

  // Reads the next request; nullopt if the client has disconnected or does not send HTTP.
  std::optional<FakeRequest> read();

  // Sets the bytes in one write (0: all) and the pause between two writes.
  void pace(size_t piece, std::chrono::milliseconds pause);
  // Both return false if the client has disconnected.
  bool send(std::string_view bytes);
  bool wait(std::chrono::milliseconds time);
  void wait_for_disconnect();

  // Makes close() reset the connection.
  void reset_on_close();

 private:
  bool receive();

  int fd_;
  std::string buffer_;
  size_t piece_ = 0;
  std::chrono::milliseconds pause_{0};
  bool disconnected_ = false;
};

struct SendResult {
  bool complete = false;
  bool keep = false;  // the connection can be used for another request
  std::optional<std::chrono::milliseconds> left_after;  // see SeenRequest
};

// Sends a response at the pace and with the end that its behaviour wants.
SendResult send_response(HttpSocket& socket, const FakeResponse& response,
                         const Behaviour& behaviour);

}  // namespace stoka::testing
