#include "base/utf16.h"

#include "base/ascii.h"

namespace stoka {

std::optional<char32_t> parse_unicode_escape(std::string_view text) {
  if (text.size() < kUnicodeEscapeLength || !text.starts_with("\\u")) return std::nullopt;
  char32_t unit = 0;
  for (const char c : text.substr(2, kUnicodeEscapeLength - 2)) {
    const int digit = hex_digit_value(c);
    if (digit < 0) return std::nullopt;
    unit = 16 * unit + static_cast<char32_t>(digit);
  }
  return unit;
}

}  // namespace stoka
