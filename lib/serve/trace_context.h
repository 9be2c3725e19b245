// Names of a request: W3C Trace Context (https://www.w3.org/TR/trace-context/) and X-Request-Id.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace stoka::serve {

struct TraceContext {
  std::string trace_id;    // 32 hexadecimal digits, lower case
  std::string parent_id;   // 16 of them: the caller's span; empty in a new trace
  std::string span_id;     // 16 of them: this request
  uint8_t flags = 0;       // 1: the caller records the trace
  bool continued = false;  // the trace is the caller's

  // The traceparent of what is asked for this request's sake.
  std::string header() const;
};

// A span of the trace that the header names; without a header, or with a wrong one, of a new trace.
// Asks for one id.
TraceContext trace_context(std::string_view traceparent, Ids& ids);

// What the client gave, if it is 1 to 64 of A-Z a-z 0-9 . _ -, else a new UUID.
std::string request_id(std::string_view given, Ids& ids);

}  // namespace stoka::serve
