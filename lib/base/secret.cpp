#include "base/secret.h"

#include <algorithm>
#include <optional>

#include "base/utf16.h"

namespace stoka {
namespace {

// Removes a JSON escape sequence from the front of the text and returns its character. Returns
// nothing if no sequence is there or its character is beyond ASCII, since keys are ASCII.
std::optional<char> take_escape(std::string_view& text) {
  if (text.size() < 2 || text[0] != '\\') return std::nullopt;
  if (text[1] != 'u') {
    constexpr std::string_view kLetters = "\"\\/bfnrt", kCharacters = "\"\\/\b\f\n\r\t";
    const size_t index = kLetters.find(text[1]);
    if (index == std::string_view::npos) return std::nullopt;
    text.remove_prefix(2);
    return kCharacters[index];
  }
  const std::optional<char32_t> unit = parse_unicode_escape(text);
  if (!unit || *unit >= 0x80) return std::nullopt;
  text.remove_prefix(kUnicodeEscapeLength);
  return static_cast<char>(*unit);
}

// Returns how many bytes at the front of the text spell the value in JSON; 0 if they do not.
size_t json_spelling_length(std::string_view text, std::string_view value) {
  const size_t size_before = text.size();
  for (const char c : value) {
    if (text.empty()) return 0;
    if (text.front() != '\\') {
      if (text.front() != c) return 0;
      text.remove_prefix(1);
    } else if (take_escape(text) != c) {
      return 0;
    }
  }
  return size_before - text.size();
}

}  // namespace

std::string Secret::redact(std::string_view text) const {
  if (value_.size() < kMinLength) return std::string(text);
  const char first_characters[] = {value_.front(), '\\'};
  std::string out;
  while (!text.empty()) {
    const size_t at = std::min(text.find_first_of({first_characters, 2}), text.size());
    out += text.substr(0, at);
    text.remove_prefix(at);
    const size_t length =
        text.starts_with(value_) ? value_.size() : json_spelling_length(text, value_);
    // An escaped backslash is copied as a whole, because its second byte does not begin an escape.
    const size_t kept = text.starts_with("\\\\") && value_.front() != '\\' ? 2 : 1;
    out += length > 0 ? "***" : text.substr(0, kept);
    text.remove_prefix(length > 0 ? length : std::min(kept, text.size()));
  }
  return out;
}

}  // namespace stoka
