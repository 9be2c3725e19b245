#include "support/upstream/send.h"

#include <fmt/format.h>

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

bool in_chunks(const Answer& answer) {
  return (answer.stream || answer.chunked) && answer.missing == 0;
}

std::string head(const Answer& answer) {
  std::string out = fmt::format("HTTP/1.1 {} {}\r\n", answer.status, reason(answer.status));
  if (!answer.content_type.empty()) out += fmt::format("Content-Type: {}\r\n", answer.content_type);
  for (const auto& [name, value] : answer.headers) out += fmt::format("{}: {}\r\n", name, value);
  if (in_chunks(answer)) return out + "Transfer-Encoding: chunked\r\n\r\n";
  size_t length = answer.missing;
  for (const Part& part : answer.parts) length += part.bytes.size() * part.times;
  return out + fmt::format("Content-Length: {}\r\n\r\n", length);
}

bool send_chunk(Wire& wire, std::string_view bytes) {
  return wire.send(fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes));
}

// A character of several bytes is split over two chunks, as it is sooner or later by real ones.
bool send_part(Wire& wire, std::string_view bytes, bool chunks) {
  if (bytes.empty()) return true;
  if (!chunks) return wire.send(bytes);
  size_t at = 0;
  while (at < bytes.size() && static_cast<unsigned char>(bytes[at]) < 0x80) ++at;
  if (at + 1 >= bytes.size()) return send_chunk(wire, bytes);
  return send_chunk(wire, bytes.substr(0, at + 1)) && send_chunk(wire, bytes.substr(at + 1));
}

bool send_body(Wire& wire, const Answer& answer, const Behaviour& behaviour) {
  const bool chunks = in_chunks(answer);
  bool first = true;
  for (const Part& part : answer.parts)
    for (size_t i = 0; i < part.times; ++i) {
      if (!first && answer.stream && !wire.wait(behaviour.token_delay)) return false;
      first = false;
      if (!send_part(wire, part.bytes, chunks)) return false;
    }
  const bool whole = answer.end == Answer::End::whole || answer.end == Answer::End::whole_close;
  return !chunks || !whole || wire.send("0\r\n\r\n");
}

// False: the client left before it had everything that there is.
bool send_all(Wire& wire, const Answer& answer, const Behaviour& behaviour,
              std::chrono::steady_clock::time_point& since) {
  using Milliseconds = Behaviour::Milliseconds;
  wire.pace(behaviour.piece, behaviour.pause.value_or(Milliseconds(0)));
  if (!wire.wait(behaviour.delay)) return false;
  const std::string start = head(answer);
  if (answer.head == Answer::Head::half && !wire.send(start.substr(0, start.size() / 2)))
    return false;
  if (answer.head == Answer::Head::whole && !wire.send(start)) return false;
  since = std::chrono::steady_clock::now();
  if (!wire.wait(behaviour.first_token)) return false;
  if (behaviour.fault == "drip") wire.pace(1, behaviour.pause.value_or(Milliseconds(1000)));
  return send_body(wire, answer, behaviour);
}

}  // namespace

Sent send_answer(Wire& wire, const Answer& answer, const Behaviour& behaviour) {
  using End = Answer::End;
  auto since = std::chrono::steady_clock::now();
  bool stayed = send_all(wire, answer, behaviour, since);
  if (stayed && answer.end == End::hang) {
    wire.wait_until_it_leaves();
    stayed = false;
  }
  if (stayed && answer.end == End::reset) wire.reset_on_close();
  Sent out;
  out.complete = stayed && (answer.end == End::whole || answer.end == End::whole_close);
  out.keep = stayed && answer.end == End::whole;
  if (!stayed)
    out.left_after = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - since);
  return out;
}

}  // namespace stoka::testing
