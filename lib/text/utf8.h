// Decoding, encoding and repair of UTF-8. Input is converted where it enters the program; inside,
// all text is valid UTF-8 without NUL. Pure, thread safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stoka::text {

bool is_valid_utf8(std::string_view bytes);

// Returns the code point at `at`, which must be less than text.size(), and advances `at` past it.
// Each maximal subpart of an invalid sequence is returned as U+FFFD, as the Unicode standard
// recommends.
char32_t next_code_point(std::string_view text, size_t& at);

// The number of bytes in a sequence with this lead byte; 1 if no sequence begins with the byte.
inline size_t utf8_sequence_length(unsigned char lead) {
  if (lead < 0xC2 || lead > 0xF4) return 1;
  return lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
}

void append_utf8(std::string& out, char32_t code_point);

// The offset of the last code point boundary at or before `at`.
size_t floor_char_boundary(std::string_view text, size_t at);

// What repair_utf8() changed.
struct Utf8Repair {
  size_t invalid = 0;  // sequences replaced by U+FFFD
  size_t nul = 0;      // NUL bytes removed
  bool bom = false;    // whether a byte order mark was removed
  bool utf16 = false;  // whether the text was UTF-16 with a byte order mark and was converted
};

// Returns valid UTF-8 without NUL and byte order mark, and with LF as line end.
std::string repair_utf8(std::string_view bytes, Utf8Repair* report = nullptr);

// Converts text in Windows-1252, of which Latin-1 and ASCII are a part. Returns nothing if the
// bytes do not look like it. They do if at least one byte is invalid in UTF-8, almost no sequence
// of several bytes is valid UTF-8 (else it is damaged UTF-8), fewer than 5 % of the bytes are
// beyond ASCII, and no byte is NUL or undefined in Windows-1252.
std::optional<std::string> windows_1252_to_utf8(std::string_view bytes);

}  // namespace stoka::text
