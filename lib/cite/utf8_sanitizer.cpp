#include "cite/utf8_sanitizer.h"

#include <cstdint>
#include <cstring>

namespace stoka::cite {

namespace {

// What a lead byte says about its sequence (table 3-7 of the Unicode standard).
struct Lead {
  size_t length = 0;         // 0: no sequence begins with this byte
  unsigned char low = 0x80;  // bounds of the second byte
  unsigned char high = 0xBF;
};

Lead lead(unsigned char byte) {
  if (byte < 0x80) return {1};
  if (byte < 0xC2) return {};
  if (byte < 0xE0) return {2};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte < 0xF0) return {3};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte < 0xF4) return {4};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {};
}

size_t ascii_run(std::string_view bytes) {
  size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + at, 8);
    if ((word & 0x8080808080808080u) != 0) break;
  }
  while (at < bytes.size() && static_cast<unsigned char>(bytes[at]) < 0x80) ++at;
  return at;
}

}  // namespace

Utf8Prefix utf8_prefix(std::string_view bytes) {
  size_t at = 0;
  while (at < bytes.size()) {
    at += ascii_run(bytes.substr(at));
    if (at == bytes.size()) break;
    const Lead first = lead(static_cast<unsigned char>(bytes[at]));
    size_t good = 1;
    while (good < first.length && at + good < bytes.size()) {
      const auto byte = static_cast<unsigned char>(bytes[at + good]);
      const unsigned char low = good == 1 ? first.low : 0x80;
      const unsigned char high = good == 1 ? first.high : 0xBF;
      if (byte < low || byte > high) break;
      ++good;
    }
    if (good == first.length) {
      at += good;
      continue;
    }
    if (at > 0) break;  // the valid run comes first
    const bool is_incomplete = first.length > 0 && good == bytes.size();
    return {is_incomplete ? Utf8Prefix::incomplete : Utf8Prefix::invalid, good};
  }
  return {Utf8Prefix::valid, at};
}

}  // namespace stoka::cite
