// A blocking HTTP client for tests. It sends any bytes, and reads responses and their events.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/sockets.h"

namespace stoka::testing {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;  // names in lower case

// Reads the lines of a head after its first; nullopt if a line has no colon.
std::optional<HttpHeaders> parse_headers(std::string_view lines);

struct ReplyEvent {
  std::string name;
  std::string data;

  nlohmann::json json() const;  // the data
};

// All events of a stream, without its comments. Throws if one is malformed or incomplete.
std::vector<ReplyEvent> parse_events(std::string_view stream);

struct HttpReply {
  int status = 0;
  HttpHeaders headers = {};
  std::string body = {};  // without the framing of chunks

  std::string header(std::string_view name) const;  // empty if there is none
  nlohmann::json json() const;                      // the body; discarded if it is not JSON
  // The data of the first event with that name; null if there is none.
  nlohmann::json event(std::string_view name) const;
};

// A client on one connection. Functions that wait throw if the server sends nothing for 20 seconds;
// those that read a response throw if it is malformed or incomplete.
class HttpConnection {
 public:
  // `receive_buffer` is the size of the socket's receive buffer; 0 means the system's default.
  explicit HttpConnection(uint16_t port, int receive_buffer = 0);

  bool connected() const { return static_cast<bool>(socket_); }
  void disconnect() { socket_.close(); }
  void finish();  // sends the end; the server can still answer
  // Returns false if the server has closed the connection.
  bool send(std::string_view bytes);

  HttpReply ask(std::string_view request);
  // Reads the next response, or only its head if the request was HEAD.
  HttpReply reply(bool head_only = false);
  // Reads the status and the headers of the next response. Then event() reads its body.
  HttpReply read_head();
  // Waits for the next event; nullopt at the end of the stream.
  std::optional<ReplyEvent> event();
  // Waits for a comment, before which there must be no event.
  void wait_for_ping();
  size_t pings() const { return pings_; }  // that event() has passed

  // Whether the text arrives before the server closes the connection.
  bool receives(std::string_view text);
  // All bytes until the server closes the connection.
  std::string rest();
  // Whether the server closes the connection without sending more.
  bool is_closed() { return rest().empty(); }

 private:
  bool receive();
  void must_receive();
  std::string take(size_t count);
  void read_body();  // another chunk, or the whole rest

  Descriptor socket_;
  std::string received_;  // and not yet read
  std::string body_;      // of the current response
  size_t next_ = 0;       // where the next event starts in it
  bool chunked_ = false;
  bool ended_ = false;
  std::optional<size_t> length_;
  size_t pings_ = 0;
};

}  // namespace stoka::testing
