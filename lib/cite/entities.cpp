#include "cite/entities.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include "text/utf8.h"

namespace stoka::cite {

namespace {

constexpr std::array<std::pair<std::string_view, char32_t>, 35> kNamed = {{
    {"quot", U'"'},        {"amp", U'&'},         {"lt", U'<'},          {"gt", U'>'},
    {"apos", U'\''},       {"nbsp", U'\u00A0'},   {"mdash", U'\u2014'},  {"ndash", U'\u2013'},
    {"lsquo", U'\u2018'},  {"rsquo", U'\u2019'},  {"sbquo", U'\u201A'},  {"ldquo", U'\u201C'},
    {"rdquo", U'\u201D'},  {"bdquo", U'\u201E'},  {"laquo", U'\u00AB'},  {"raquo", U'\u00BB'},
    {"hellip", U'\u2026'}, {"bull", U'\u2022'},   {"middot", U'\u00B7'}, {"times", U'\u00D7'},
    {"deg", U'\u00B0'},    {"copy", U'\u00A9'},   {"reg", U'\u00AE'},    {"trade", U'\u2122'},
    {"rarr", U'\u2192'},   {"larr", U'\u2190'},   {"le", U'\u2264'},     {"ge", U'\u2265'},
    {"ne", U'\u2260'},     {"eacute", U'\u00E9'}, {"auml", U'\u00E4'},   {"ouml", U'\u00F6'},
    {"uuml", U'\u00FC'},   {"euro", U'\u20AC'},   {"shy", U'\u00AD'},
}};

// The reference between '&' and ';'.
std::optional<char32_t> resolve(std::string_view reference) {
  if (!reference.starts_with('#')) {
    for (const auto& [name, code_point] : kNamed) {
      if (name == reference) return code_point;
    }
    return {};
  }
  reference.remove_prefix(1);
  const bool hex = reference.starts_with('x') || reference.starts_with('X');
  if (hex) reference.remove_prefix(1);
  uint32_t value = 0;
  const char* end = reference.data() + reference.size();
  const auto [stop, error] = std::from_chars(reference.data(), end, value, hex ? 16 : 10);
  if (stop != end || error == std::errc::invalid_argument) return {};
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (error != std::errc() || value == 0 || value > 0x10FFFF || surrogate) return U'\uFFFD';
  return static_cast<char32_t>(value);
}

}  // namespace

std::string decode_entities(std::string_view value) {
  constexpr size_t kLongest = 12;
  std::string out;
  out.reserve(value.size());
  while (!value.empty()) {
    const size_t ampersand = value.find('&');
    out += value.substr(0, ampersand);
    if (ampersand == std::string_view::npos) break;
    value.remove_prefix(ampersand + 1);
    const size_t semicolon = value.substr(0, kLongest + 1).find(';');
    std::optional<char32_t> code_point;
    if (semicolon != std::string_view::npos) code_point = resolve(value.substr(0, semicolon));
    if (code_point) {
      text::append_utf8(out, *code_point);
      value.remove_prefix(semicolon + 1);
    } else {
      out += '&';
    }
  }
  return out;
}

}  // namespace stoka::cite
