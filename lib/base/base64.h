// Base64 with the alphabet of RFC 4648, section 4.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stoka {

std::string to_base64(std::string_view bytes);
// Decodes a text whose padding may be missing. Returns nothing if the text has any other character
// or a length that no encoding has.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace stoka
