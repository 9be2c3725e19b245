// Characters, strings and numbers of ASCII. Bytes beyond ASCII belong to no class and are never
// changed, so every function may be used on UTF-8. The classes take bytes (char) and code points
// alike.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace stoka {

inline constexpr std::string_view kAsciiWhitespace = " \t\r\n\f\v";

inline bool is_ascii_space(char c) { return kAsciiWhitespace.find(c) != std::string_view::npos; }
constexpr bool is_ascii(char32_t c) { return c < 0x80; }
constexpr bool is_ascii_digit(char32_t c) { return c >= '0' && c <= '9'; }
constexpr bool is_ascii_upper(char32_t c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_ascii_lower(char32_t c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_ascii_letter(char32_t c) { return is_ascii_upper(c) || is_ascii_lower(c); }
constexpr bool is_ascii_alnum(char32_t c) { return is_ascii_letter(c) || is_ascii_digit(c); }

// Returns 0 to 15 for a hexadecimal digit in either case, and -1 for any other character.
constexpr int hex_digit_value(char c) {
  if (is_ascii_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

constexpr char to_lower(char c) { return is_ascii_upper(c) ? static_cast<char>(c + 32) : c; }
constexpr char to_upper(char c) { return is_ascii_lower(c) ? static_cast<char>(c - 32) : c; }
std::string to_lower(std::string_view text);

// Returns the text without the white space at both ends.
std::string_view trimmed(std::string_view text);

// Removes the first line from the text and returns it without its line feed.
std::string_view take_line(std::string_view& text);

// Removes the first run of characters without white space, and the white space before it, from the
// text and returns the run. The run is empty if the text has nothing else.
std::string_view take_field(std::string_view& text);

// Returns the number that the whole text spells in decimal digits, or nothing if the text is
// anything else or the number does not fit. A plus sign and white space are not allowed. A
// floating-point number may be "inf" or "nan".
template <class T>
std::optional<T> parse_number(std::string_view text) {
  T number{};
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stopped != end) return std::nullopt;
  return number;
}

}  // namespace stoka
