#include "base/base64.h"

#include <array>
#include <cstdint>

namespace stoka {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::array<int8_t, 256> digit_values() {
  std::array<int8_t, 256> out;
  out.fill(-1);
  for (size_t i = 0; i < kAlphabet.size(); ++i)
    out[static_cast<uint8_t>(kAlphabet[i])] = static_cast<int8_t>(i);
  return out;
}

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t j = i; j < i + 3; ++j)
      group = group << 8 | (j < bytes.size() ? static_cast<uint8_t>(bytes[j]) : 0u);
    for (size_t j = 0; j < 4; ++j)
      out += i + j > bytes.size() ? '=' : kAlphabet[group >> (18 - 6 * j) & 63];
  }
  return out;
}

std::optional<std::string> from_base64(std::string_view text) {
  static const std::array<int8_t, 256> kValues = digit_values();
  while (text.ends_with('=')) text.remove_suffix(1);
  if (text.size() % 4 == 1) return std::nullopt;
  std::string out;
  out.reserve(text.size() * 3 / 4);
  uint32_t bits = 0;
  int bit_count = 0;
  for (const char c : text) {
    const int8_t value = kValues[static_cast<uint8_t>(c)];
    if (value < 0) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(value);
    bit_count += 6;
    if (bit_count < 8) continue;
    bit_count -= 8;
    out += static_cast<char>(bits >> bit_count & 0xFF);
  }
  return out;
}

}  // namespace stoka
