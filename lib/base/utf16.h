// Reads UTF-16 code units as JSON escapes them: "\uXXXX" is one unit, and a high surrogate followed
// by a low one is one character.
#pragma once

#include <optional>
#include <string_view>

namespace stoka {

inline constexpr size_t kUnicodeEscapeLength = 6;

// Returns the code unit of the escape at the start of the text, or nothing if no escape is there.
std::optional<char32_t> parse_unicode_escape(std::string_view text);

constexpr bool is_high_surrogate(char32_t unit) { return unit >= 0xD800 && unit < 0xDC00; }
constexpr bool is_low_surrogate(char32_t unit) { return unit >= 0xDC00 && unit < 0xE000; }

}  // namespace stoka
