#include "base/ascii.h"

#include <algorithm>

namespace stoka {

std::string to_lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = to_lower(c);
  return out;
}

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(kAsciiWhitespace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kAsciiWhitespace) + 1 - first);
}

std::string_view take_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::string_view take_field(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(kAsciiWhitespace), text.size()));
  const size_t end = std::min(text.find_first_of(kAsciiWhitespace), text.size());
  const std::string_view field = text.substr(0, end);
  text.remove_prefix(end);
  return field;
}

}  // namespace stoka
