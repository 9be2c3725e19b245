// An event stream: net::SseDecoder, compared with a decoder that has the whole stream at once.
#include <string>

#include "fuzz/targets.h"
#include "net/sse.h"
#include "text/utf8.h"

namespace stoka::fuzz {
namespace {

using net::SseDecoder;
using net::SseEvent;
using net::SseLimits;

struct DecodedStream {
  std::string events;  // "[type|data|id]"
  std::string pending;
  bool too_long = false;
  bool operator==(const DecodedStream&) const = default;
};

std::string shown_event(std::string_view type, std::string_view data, std::string_view id) {
  return "[" + std::string(type) + "|" + std::string(data) + "|" + std::string(id) + "]";
}

DecodedStream decode(const Pieces& pieces, SseLimits limits, size_t most_events) {
  DecodedStream out;
  SseDecoder decoder(limits);
  size_t events = 0;
  for (const std::string_view piece : pieces) {
    const Result<> pushed = decoder.push(piece, [&](const SseEvent& event) {
      check(!event.type.empty(), "an event has a type");
      check(event.data.size() <= limits.event, "the data of an event keep the limit");
      for (const std::string_view text : {event.type, event.data, event.id})
        check(text::is_valid_utf8(text), "an event is valid UTF-8");
      check(events < most_events, "no event follows after the sink returned false");
      out.events += shown_event(event.type, event.data, event.id);
      return ++events < most_events;
    });
    if (pushed) continue;
    check(pushed.error().kind == ErrorKind::protocol, "a limit is a protocol error");
    out.too_long = true;
    return out;
  }
  out.pending = decoder.pending();
  check(text::is_valid_utf8(out.pending), "pending data are valid UTF-8");
  return out;
}

std::string repaired_utf8(std::string_view bytes) {
  std::string out;
  for (size_t at = 0; at < bytes.size();) text::append_utf8(out, text::next_code_point(bytes, at));
  return out;
}

// The events as the standard says, with all bytes at hand (WHATWG HTML, 9.2.6).
std::string events_of(std::string_view bytes) {
  std::string out, data, type, id;
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
  for (;;) {
    const size_t end = bytes.find_first_of("\r\n");
    if (end == std::string_view::npos) return out;
    const std::string_view line = bytes.substr(0, end);
    bytes.remove_prefix(end + (bytes.substr(end).starts_with("\r\n") ? 2 : 1));
    const size_t colon = line.find(':');
    const std::string_view name = line.substr(0, colon);
    std::string_view value =
        colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    if (line.empty()) {
      if (!data.empty())
        out += shown_event(type.empty() ? "message" : type, data.substr(0, data.size() - 1), id);
      data.clear();
      type.clear();
    } else if (name == "data") {
      data += repaired_utf8(value) + "\n";
    } else if (name == "event") {
      type = repaired_utf8(value);
    } else if (name == "id" && value.find('\0') == std::string_view::npos) {
      id = repaired_utf8(value);
    }
  }
}

}  // namespace

void fuzz_sse(std::string_view input) {
  const DecodedStream whole = parse_in_splits(
      input, [](const Pieces& pieces) { return decode(pieces, SseLimits{}, SIZE_MAX); });
  if (!whole.too_long)
    check(whole.events == events_of(input), "the events are those of the standard");
  parse_in_splits(input, [](const Pieces& pieces) {
    return decode(pieces, SseLimits{.line = 32, .event = 48}, 3);
  });
}

}  // namespace stoka::fuzz
