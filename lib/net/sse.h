// Server-sent events, decoded by the rules of the WHATWG HTML standard, section "Interpreting an
// event stream". Bytes in any split; memory bounded.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stoka::net {

struct SseEvent {
  std::string_view type;  // "message" unless the stream says otherwise
  std::string_view data;  // valid UTF-8: what was not is U+FFFD
  std::string_view id;    // the last one given
};

struct SseLimits {
  size_t line = 1u << 20;   // bytes
  size_t event = 4u << 20;  // bytes of data
};

// Not thread safe.
class SseDecoder {
 public:
  // The views live as long as the call. False: no more events are wanted, the rest is ignored.
  using Sink = std::function<bool(const SseEvent&)>;

  explicit SseDecoder(SseLimits limits = {}) : limits_(limits) {}

  // A line or an event above its limit is a protocol error; the decoder is of no use afterwards.
  Result<> push(std::string_view bytes, const Sink& sink);

  // The data of an event that has not ended, its unfinished last line included: at the end of a
  // stream it is discarded by the standard, but some servers end on "data: [DONE]" without a blank
  // line.
  std::string pending() const;

 private:
  Result<> line(std::string_view line, const Sink& sink);

  SseLimits limits_;
  std::string line_;  // unfinished
  std::string data_;
  std::string type_;
  std::string id_;
  bool after_cr_ = false;
  bool at_start_ = true;
  bool ended_ = false;
};

}  // namespace stoka::net
