#include "text/utf8.h"

#include <array>
#include <cstring>

#include "base/ascii.h"
#include "base/utf16.h"

namespace stoka::text {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

uint8_t byte_at(std::string_view text, size_t at) { return static_cast<uint8_t>(text[at]); }

bool is_continuation(std::string_view text, size_t at) {
  return at < text.size() && (byte_at(text, at) & 0xC0) == 0x80;
}

// Decodes the code point at `at` and advances `at` past it. If the sequence is invalid, or
// incomplete because the text ends, `at` is then past its maximal subpart.
Utf8Prefix::Kind decode(std::string_view text, size_t& at, char32_t& out) {
  uint8_t lead = byte_at(text, at++);
  if (lead < 0x80) {
    out = lead;
    return Utf8Prefix::valid;
  }
  size_t more = 0;  // how many continuation bytes follow
  // The range of the second byte excludes overlong forms, surrogates and code points above 10FFFF.
  uint8_t low = 0x80, high = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    more = 1;
    out = lead & 0x1F;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    more = 2;
    out = lead & 0x0F;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    more = 3;
    out = lead & 0x07;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
  } else {
    return Utf8Prefix::invalid;
  }
  for (; more > 0; --more, low = 0x80, high = 0xBF) {
    if (at >= text.size()) return Utf8Prefix::incomplete;
    if (byte_at(text, at) < low || byte_at(text, at) > high) return Utf8Prefix::invalid;
    out = (out << 6) | (byte_at(text, at++) & 0x3F);
  }
  return Utf8Prefix::valid;
}

// Whether all of eight bytes are ASCII.
bool is_ascii8(const char* bytes) {
  uint64_t block;
  std::memcpy(&block, bytes, sizeof block);
  return (block & 0x8080808080808080ULL) == 0;
}

// Converts UTF-16 that begins with a byte order mark.
std::string from_utf16(std::string_view bytes, bool big_endian) {
  auto unit = [&](size_t at) {
    unsigned first = byte_at(bytes, at), second = byte_at(bytes, at + 1);
    return char32_t(big_endian ? first << 8 | second : second << 8 | first);
  };
  std::string out;
  out.reserve(bytes.size());
  size_t at = 2;
  while (at + 1 < bytes.size()) {
    char32_t c = unit(at);
    at += 2;
    if (is_high_surrogate(c) && at + 1 < bytes.size()) {
      char32_t trail = unit(at);
      if (is_low_surrogate(trail)) {
        c = 0x10000 + ((c - 0xD800) << 10) + (trail - 0xDC00);
        at += 2;
      }
    }
    append_utf8(out, c);
  }
  return out;
}

// Text is taken for Windows-1252 under two conditions: fewer than 1/kMinBytesPerNonAscii of its
// bytes are not ASCII, and beyond ASCII it has at least kMinInvalidPerValid times as many invalid
// UTF-8 sequences as valid ones, of which a few may occur by chance.
constexpr size_t kMinBytesPerNonAscii = 20;
constexpr size_t kMinInvalidPerValid = 10;

// The code points of bytes 0x80 to 0x9F in Windows-1252; 0 where none is defined. All other bytes
// are as in Latin-1.
constexpr std::array<char32_t, 32> kWindows1252 = {
    0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0,      0x017D, 0,      0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};

char32_t windows_1252_code_point(unsigned char byte) {
  return byte >= 0x80 && byte < 0xA0 ? kWindows1252[byte - 0x80] : char32_t{byte};
}

}  // namespace

Utf8Prefix utf8_prefix(std::string_view bytes) {
  size_t at = 0;
  char32_t ignored = 0;
  while (at < bytes.size()) {
    if (at + 8 <= bytes.size() && is_ascii8(bytes.data() + at)) {
      at += 8;
      continue;
    }
    const size_t begin = at;
    const Utf8Prefix::Kind kind = decode(bytes, at, ignored);
    if (kind == Utf8Prefix::valid) continue;
    if (begin > 0) return {Utf8Prefix::valid, begin};
    return {kind, at};
  }
  return {Utf8Prefix::valid, at};
}

bool is_valid_utf8(std::string_view bytes) {
  const Utf8Prefix prefix = utf8_prefix(bytes);
  return prefix.kind == Utf8Prefix::valid && prefix.length == bytes.size();
}

char32_t next_code_point(std::string_view text, size_t& at) {
  char32_t out = 0;
  return decode(text, at, out) == Utf8Prefix::valid ? out : kReplacement;
}

void append_utf8(std::string& out, char32_t c) {
  if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) c = kReplacement;
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | c >> 6);
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | c >> 12);
    out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | c >> 18);
    out += static_cast<char>(0x80 | (c >> 12 & 0x3F));
    out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  }
}

size_t floor_char_boundary(std::string_view text, size_t at) {
  if (at >= text.size()) return text.size();
  // A sequence has at most three continuation bytes. Further ones are invalid, and each of them is
  // a boundary.
  for (size_t back = 0; back <= 3 && back <= at; ++back)
    if (!is_continuation(text, at - back)) return at - back;
  return at;
}

bool has_utf16_mark(std::string_view bytes) {
  return bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF");
}

std::string repair_utf8(std::string_view bytes, Utf8Repair* report) {
  Utf8Repair repair;
  std::string converted;
  if (has_utf16_mark(bytes)) {
    converted = from_utf16(bytes, bytes[0] == '\xFE');
    bytes = converted;
  } else if (bytes.starts_with("\xEF\xBB\xBF")) {
    bytes.remove_prefix(3);
  }
  std::string out;
  out.reserve(bytes.size());
  size_t at = 0;
  while (at < bytes.size()) {
    size_t begin = at;
    char32_t c = 0;
    if (decode(bytes, at, c) != Utf8Prefix::valid) {
      ++repair.invalid;
      append_utf8(out, kReplacement);
    } else if (c == 0) {
      ++repair.nul;
    } else if (c == '\r') {
      if (at >= bytes.size() || bytes[at] != '\n') out += '\n';
    } else {
      out.append(bytes, begin, at - begin);
    }
  }
  if (report) *report = repair;
  return out;
}

std::optional<std::string> windows_1252_to_utf8(std::string_view bytes) {
  size_t invalid = 0;
  size_t valid = 0;
  for (size_t at = 0; at < bytes.size();) {
    const size_t begin = at;
    if (is_ascii(bytes[begin])) {
      ++at;
      continue;
    }
    const bool is_invalid = next_code_point(bytes, at) == 0xFFFD;
    // A U+FFFD that the bytes themselves contain is a valid sequence.
    ++(is_invalid && bytes.substr(begin, at - begin) != "\uFFFD" ? invalid : valid);
  }
  if (invalid == 0 || valid * kMinInvalidPerValid > invalid) return std::nullopt;

  std::string out;
  out.reserve(bytes.size() + bytes.size() / 8);
  size_t non_ascii = 0;
  for (const char byte : bytes) {
    const char32_t c = windows_1252_code_point(static_cast<unsigned char>(byte));
    if (c == 0) return std::nullopt;
    non_ascii += c >= 0x80 ? 1 : 0;
    append_utf8(out, c);
  }
  if (non_ascii * kMinBytesPerNonAscii >= bytes.size()) return std::nullopt;
  return out;
}

}  // namespace stoka::text
