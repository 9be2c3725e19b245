#pragma once

#include <string>
#include <string_view>

namespace stoka {

// Returns the 128-bit XXH3 hash as 32 hexadecimal digits. The hash detects changes, but does not
// protect against an attacker who chooses the bytes.
std::string content_hash(std::string_view bytes);

// Returns the 128-bit XXH3 hash as a UUID of version 8 (RFC 9562, custom formats).
std::string uuid_from_hash(std::string_view bytes);

}  // namespace stoka
