// The body of an HTTP error: problem details, RFC 9457.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace stoka::serve {

// {"type":"about:blank","title":"Bad Request","status":400,"code":"usage","detail":"…",
//  "hint":"…","field":"scroll_pct","request_id":"…"}, in one line; hint and field only where there
// is one. Valid UTF-8 whatever it is given. To be sent as application/problem+json.
std::string problem_json(int status, const Error& error, std::string_view field,
                         std::string_view request_id);

// The reason phrase of a status: RFC 9110, section 15, and nginx's for 499. "Unknown" of others.
std::string_view reason(int status);

// When the same request is worth another try: with every 503, and what the server behind it asked
// for if it did.
std::optional<std::chrono::seconds> retry_after(const Error& error);

}  // namespace stoka::serve
