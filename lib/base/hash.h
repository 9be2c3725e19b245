#pragma once

#include <string>
#include <string_view>

namespace stoka {

// 32 hexadecimal digits (XXH3, 128 bits). For noticing change, not for security.
std::string content_hash(std::string_view bytes);

// The same as a UUID of version 8, "made its own way".
std::string hashed_uuid(std::string_view bytes);

}  // namespace stoka
