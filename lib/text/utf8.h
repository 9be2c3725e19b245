// UTF-8 in and out. Everything past the border of the program is valid UTF-8 without NUL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stoka::text {

bool is_valid_utf8(std::string_view bytes);

// The code point at `at` (at < text.size()) and, in `at`, the offset of the next one. Invalid bytes
// yield U+FFFD one maximal subpart at a time, as the Unicode standard recommends.
char32_t next_code_point(std::string_view text, size_t& at);

// Bytes of the sequence that a lead byte begins; 1 for a byte that begins none.
inline size_t sequence_length(unsigned char lead) {
  if (lead < 0xC2 || lead > 0xF4) return 1;
  return lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
}

void append_utf8(std::string& out, char32_t code_point);

// Offset of the last code point border at or before `at`.
size_t floor_border(std::string_view text, size_t at);

struct Repair {
  size_t invalid = 0;  // sequences replaced by U+FFFD
  size_t nul = 0;      // NUL bytes removed
  bool bom = false;    // leading byte order mark removed
  bool utf16 = false;  // text was UTF-16 with a byte order mark and was converted
};

// Valid UTF-8 without NUL and leading BOM, line ends as LF.
std::string repair_utf8(std::string_view bytes, Repair* report = nullptr);

}  // namespace stoka::text
