#pragma once

#include <string>
#include <string_view>

namespace stoka {

// The 128-bit XXH3 hash as 32 hexadecimal digits. It detects changes; it does not protect against
// an attacker who chooses the bytes.
std::string content_hash(std::string_view bytes);

// The same hash in the form of a UUID of version 8 (RFC 9562, custom formats).
std::string uuid_from_hash(std::string_view bytes);

}  // namespace stoka
