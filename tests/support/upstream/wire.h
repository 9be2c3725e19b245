// One connection of the fake server: requests in, bytes out, and whether the client is still there.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "support/upstream/answer.h"

namespace stoka::testing {

// Does not own the socket. A shutdown() of it by another thread ends every wait.
class Wire {
 public:
  explicit Wire(int fd) : fd_(fd) {}

  // The next request; nothing when the client has gone or sends no HTTP.
  std::optional<Ask> read();

  // Bytes a write, 0: all at once; and the time between two writes.
  void pace(size_t piece, std::chrono::milliseconds pause);
  // False: the client has gone, now or before.
  bool send(std::string_view bytes);
  bool wait(std::chrono::milliseconds time);
  void wait_until_it_leaves();

  // Closing the socket will tell the client that the connection is reset.
  void reset_on_close();

 private:
  bool receive();
  bool send_all(std::string_view bytes);

  int fd_;
  std::string buffer_;
  size_t piece_ = 0;
  std::chrono::milliseconds pause_{0};
  bool left_ = false;
};

}  // namespace stoka::testing
