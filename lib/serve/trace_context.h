// The ids of a request: W3C Trace Context (https://www.w3.org/TR/trace-context/) and X-Request-Id.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"

namespace stoka::serve {

struct TraceContext {
  std::string trace_id;    // 32 hexadecimal digits in lower case
  std::string parent_id;   // the caller's span, 16 digits; empty in a new trace
  std::string span_id;     // the span of this request, 16 digits
  bool continued = false;  // whether the trace is the caller's
};

// Makes a span in the trace of the header, or in a new trace if the header is empty or invalid.
// Takes one id from `ids`.
TraceContext trace_context(std::string_view traceparent, UuidSource& ids);

// Returns the id that the client sent if it has 1 to 64 of A-Z a-z 0-9 . _ -, else a new UUID.
std::string request_id(std::string_view given, UuidSource& ids);

}  // namespace stoka::serve
