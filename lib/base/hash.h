#pragma once

#include <string>
#include <string_view>

namespace stoka {

// 32 hexadecimal digits (XXH3, 128 bits). For noticing change, not for security.
std::string content_hash(std::string_view bytes);

}  // namespace stoka
