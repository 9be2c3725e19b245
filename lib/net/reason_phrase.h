// The names of HTTP status codes.
#pragma once

#include <string_view>

namespace stoka::net {

// The reason phrase of a status (RFC 9110, section 15; for 499 the phrase of nginx), or "Unknown".
std::string_view reason_phrase(int status);

}  // namespace stoka::net
