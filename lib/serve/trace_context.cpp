#include "serve/trace_context.h"

#include <algorithm>
#include <optional>

#include "base/ascii.h"

namespace stoka::serve {
namespace {

// An example of a traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
constexpr size_t kTraceAt = 3;
constexpr size_t kTraceDigits = 32;
constexpr size_t kSpanAt = 36;
constexpr size_t kSpanDigits = 16;
constexpr size_t kFlagsAt = 53;
constexpr size_t kLength = 55;
constexpr size_t kMaxRequestId = 64;

// The standard does not allow upper-case digits.
bool is_hex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_id(std::string_view text) {
  return is_hex(text) && text.find_first_not_of('0') != std::string_view::npos;
}

std::optional<TraceContext> parsed_context(std::string_view text) {
  if (text.size() < kLength) return std::nullopt;
  const std::string_view version = text.substr(0, 2), flags = text.substr(kFlagsAt, 2);
  if (!is_hex(version) || version == "ff" || !is_hex(flags)) return std::nullopt;
  for (const size_t dash : {kTraceAt - 1, kSpanAt - 1, kFlagsAt - 1})
    if (text[dash] != '-') return std::nullopt;
  // A later version of the standard may append fields.
  if (text.size() > kLength && (version == "00" || text[kLength] != '-')) return std::nullopt;
  TraceContext out;
  out.trace_id = text.substr(kTraceAt, kTraceDigits);
  out.parent_id = text.substr(kSpanAt, kSpanDigits);
  if (!is_id(out.trace_id) || !is_id(out.parent_id)) return std::nullopt;
  out.continued = true;
  return out;
}

bool may_be_in_request_id(char c) { return is_ascii_alnum(c) || c == '.' || c == '_' || c == '-'; }

}  // namespace

TraceContext trace_context(std::string_view traceparent, UuidSource& ids) {
  std::string digits = ids.uuid();
  std::erase(digits, '-');
  TraceContext out = parsed_context(traceparent).value_or(TraceContext());
  // The first span of a trace may share digits with the trace, because span ids only have to differ
  // within a trace. The last half of a version 4 UUID is random apart from two bits, and these keep
  // the span id from being zero.
  out.span_id = digits.substr(kTraceDigits - kSpanDigits);
  if (!out.continued) out.trace_id = std::move(digits);
  return out;
}

std::string request_id(std::string_view given, UuidSource& ids) {
  const bool good = !given.empty() && given.size() <= kMaxRequestId &&
                    std::all_of(given.begin(), given.end(), may_be_in_request_id);
  return good ? std::string(given) : ids.uuid();
}

}  // namespace stoka::serve
