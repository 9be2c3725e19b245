// The body of an HTTP error: problem details (RFC 9457).
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace stoka::serve {

// {"type":"about:blank","title":"Bad Request","status":400,"code":"usage","detail":"…",
//  "hint":"…","field":"scroll_pct","request_id":"…"} on one line. Hint and field are left out if
// they are empty. The result is valid UTF-8 even if the arguments are not. The content type is
// application/problem+json.
std::string problem_details_json(int status, const Error& error, std::string_view field,
                                 std::string_view request_id);

// The reason phrase of a status (RFC 9110, section 15; nginx's for 499), or "Unknown".
std::string_view reason_phrase(int status);

// The value of Retry-After: the time that a model server asked for, or a default. Every 503 has
// one, other statuses have none.
std::optional<std::chrono::seconds> retry_after(const Error& error);

}  // namespace stoka::serve
