// Bytes of ASCII; all others stay as they are.
#pragma once

#include <string>
#include <string_view>

namespace stoka {

inline constexpr std::string_view kWhiteSpace = " \t\r\n\f\v";

std::string lower(std::string_view text);
// Without the white space at both ends.
std::string_view trimmed(std::string_view text);

}  // namespace stoka
