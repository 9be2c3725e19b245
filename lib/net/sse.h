// Decoder for server-sent events, after the WHATWG HTML standard, section "Interpreting an event
// stream".
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stoka::net {

struct SseEvent {
  std::string_view type;  // the event type, which is "message" unless the stream names another
  std::string_view data;  // the data as valid UTF-8: invalid bytes were replaced with U+FFFD
  std::string_view id;    // the last id in the stream
};

struct SseLimits {
  size_t line = 1u << 20;   // bytes of a line at most
  size_t event = 4u << 20;  // bytes of an event's data at most
};

// Takes the bytes of a stream in pieces of any size, within the limits on memory. A decoder is not
// thread safe.
class SseDecoder {
 public:
  // Called for each event. The views are valid during the call. Returning false ends the decoding.
  using Sink = std::function<bool(const SseEvent&)>;

  explicit SseDecoder(SseLimits limits = {}) : limits_(limits) {}

  // Decodes bytes. A line or an event above its limit is a protocol error; the decoder must not be
  // used afterwards.
  Result<> push(std::string_view bytes, const Sink& sink);

  // The data of the unfinished event, including an unfinished last line. The standard discards it
  // at the end of a stream, but some servers end with "data: [DONE]" and no blank line.
  std::string pending() const;

 private:
  Result<> line(std::string_view line, const Sink& sink);

  SseLimits limits_;
  std::string line_;  // the beginning of a line whose end has not arrived
  std::string data_;
  std::string type_;
  std::string id_;
  bool after_cr_ = false;
  bool at_start_ = true;
  bool ended_ = false;
};

}  // namespace stoka::net
