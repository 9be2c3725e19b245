// UTF-16 as JSON's escapes have it: "\uXXXX" is one code unit, two may make one character.
#pragma once

#include <optional>
#include <string_view>

namespace stoka {

inline constexpr size_t kUnitEscapeBytes = 6;

// The code unit of the escape at the start of the text; nothing if there is none.
std::optional<char32_t> escaped_unit(std::string_view text);

constexpr bool is_high_surrogate(char32_t unit) { return unit >= 0xD800 && unit < 0xDC00; }
constexpr bool is_low_surrogate(char32_t unit) { return unit >= 0xDC00 && unit < 0xE000; }

}  // namespace stoka
