#include <fmt/format.h>

#include "support/upstream/http_socket.h"

namespace stoka::testing {
namespace {

const char* reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 302:
      return "Found";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 404:
      return "Not Found";
    case 413:
      return "Payload Too Large";
    case 422:
      return "Unprocessable Entity";
    case 424:
      return "Failed Dependency";
    case 429:
      return "Too Many Requests";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    default:
      return "Whatever";
  }
}

bool in_chunks(const FakeResponse& response) {
  return (response.stream || response.chunked) && response.missing == 0;
}

std::string head(const FakeResponse& response) {
  std::string out = fmt::format("HTTP/1.1 {} {}\r\n", response.status, reason(response.status));
  if (!response.content_type.empty())
    out += fmt::format("Content-Type: {}\r\n", response.content_type);
  for (const auto& [name, value] : response.headers) out += fmt::format("{}: {}\r\n", name, value);
  if (in_chunks(response)) return out + "Transfer-Encoding: chunked\r\n\r\n";
  size_t length = response.missing;
  for (const Part& part : response.parts) length += part.bytes.size() * part.times;
  return out + fmt::format("Content-Length: {}\r\n\r\n", length);
}

bool send_chunk(HttpSocket& socket, std::string_view bytes) {
  return socket.send(fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes));
}

// Splits the first character of several bytes over two chunks, as real servers sometimes do.
bool send_part(HttpSocket& socket, std::string_view bytes, bool chunks) {
  if (bytes.empty()) return true;
  if (!chunks) return socket.send(bytes);
  size_t at = 0;
  while (at < bytes.size() && static_cast<unsigned char>(bytes[at]) < 0x80) ++at;
  if (at + 1 >= bytes.size()) return send_chunk(socket, bytes);
  return send_chunk(socket, bytes.substr(0, at + 1)) && send_chunk(socket, bytes.substr(at + 1));
}

bool send_body(HttpSocket& socket, const FakeResponse& response, const Behaviour& behaviour) {
  const bool chunks = in_chunks(response);
  bool first = true;
  for (const Part& part : response.parts)
    for (size_t i = 0; i < part.times; ++i) {
      if (!first && response.stream && !socket.wait(behaviour.token_delay)) return false;
      first = false;
      if (!send_part(socket, part.bytes, chunks)) return false;
    }
  const bool whole =
      response.end == FakeResponse::End::whole || response.end == FakeResponse::End::whole_close;
  return !chunks || !whole || socket.send("0\r\n\r\n");
}

// Returns false if the client disconnected before everything was sent.
bool send_all(HttpSocket& socket, const FakeResponse& response, const Behaviour& behaviour,
              std::chrono::steady_clock::time_point& since) {
  using Milliseconds = Behaviour::Milliseconds;
  socket.pace(behaviour.piece, behaviour.pause.value_or(Milliseconds(0)));
  if (!socket.wait(behaviour.delay)) return false;
  const std::string start = head(response);
  if (response.head == FakeResponse::Head::half && !socket.send(start.substr(0, start.size() / 2)))
    return false;
  if (response.head == FakeResponse::Head::whole && !socket.send(start)) return false;
  since = std::chrono::steady_clock::now();
  if (!socket.wait(behaviour.first_token)) return false;
  if (behaviour.fault == "drip") socket.pace(1, behaviour.pause.value_or(Milliseconds(1000)));
  return send_body(socket, response, behaviour);
}

}  // namespace

SendResult send_response(HttpSocket& socket, const FakeResponse& response,
                         const Behaviour& behaviour) {
  using End = FakeResponse::End;
  auto since = std::chrono::steady_clock::now();
  bool stayed = send_all(socket, response, behaviour, since);
  if (stayed && response.end == End::hang) {
    socket.wait_for_disconnect();
    stayed = false;
  }
  if (stayed && response.end == End::reset) socket.reset_on_close();
  SendResult out;
  out.complete = stayed && (response.end == End::whole || response.end == End::whole_close);
  out.keep = stayed && response.end == End::whole;
  if (!stayed)
    out.left_after = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - since);
  return out;
}

}  // namespace stoka::testing
