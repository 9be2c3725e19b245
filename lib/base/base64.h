// RFC 4648, section 4.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stoka {

std::string to_base64(std::string_view bytes);
// Padding may be missing. Nothing for any other sign.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace stoka
