#include "base/utf16.h"

#include <charconv>

namespace stoka {

std::optional<char32_t> parse_unicode_escape(std::string_view text) {
  if (text.size() < kUnicodeEscapeLength || !text.starts_with("\\u")) return std::nullopt;
  unsigned value = 0;
  const char* end = text.data() + kUnicodeEscapeLength;
  const auto [stopped, wrong] = std::from_chars(text.data() + 2, end, value, 16);
  if (wrong != std::errc{} || stopped != end) return std::nullopt;
  return static_cast<char32_t>(value);
}

}  // namespace stoka
