#include "text/windows_1252.h"

#include <array>

#include "text/utf8.h"

namespace stoka::text {
namespace {

constexpr size_t kMostForeign = 20;  // one byte in so many
constexpr size_t kAccidents = 10;    // invalid sequences for each that is valid by chance

// 0x80 to 0x9F; 0 where nothing is defined. The rest is as in Unicode.
constexpr std::array<char32_t, 32> kUpper = {
    0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0,      0x017D, 0,      0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};

char32_t decode(unsigned char byte) {
  return byte >= 0x80 && byte < 0xA0 ? kUpper[byte - 0x80] : char32_t{byte};
}

}  // namespace

std::optional<std::string> from_windows_1252(std::string_view bytes) {
  size_t invalid = 0;
  size_t valid = 0;
  for (size_t at = 0; at < bytes.size();) {
    const size_t begin = at;
    if (static_cast<unsigned char>(bytes[begin]) < 0x80) {
      ++at;
      continue;
    }
    const bool damaged = next_code_point(bytes, at) == 0xFFFD;
    // U+FFFD can stand in the text itself.
    ++(damaged && bytes.substr(begin, at - begin) != "\uFFFD" ? invalid : valid);
  }
  if (invalid == 0 || valid * kAccidents > invalid) return std::nullopt;

  std::string out;
  out.reserve(bytes.size() + bytes.size() / 8);
  size_t foreign = 0;
  for (const char byte : bytes) {
    const char32_t c = decode(static_cast<unsigned char>(byte));
    if (c == 0) return std::nullopt;
    foreign += c >= 0x80 ? 1 : 0;
    append_utf8(out, c);
  }
  if (foreign * kMostForeign >= bytes.size()) return std::nullopt;
  return out;
}

}  // namespace stoka::text
