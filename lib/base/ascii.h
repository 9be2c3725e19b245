// Bytes of ASCII; all others stay as they are.
#pragma once

#include <string>
#include <string_view>

namespace stoka {

inline constexpr std::string_view kWhiteSpace = " \t\r\n\f\v";

inline bool is_white_space(char c) { return kWhiteSpace.find(c) != std::string_view::npos; }

std::string lower(std::string_view text);
// Without the white space at both ends.
std::string_view trimmed(std::string_view text);

}  // namespace stoka
