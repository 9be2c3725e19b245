#include "generate/surrogates.h"

#include <algorithm>
#include <utility>

#include "base/utf16.h"
#include "text/utf8.h"

namespace stoka::generate {
namespace {

constexpr char32_t kFirstMark = 0x10F800;
constexpr std::string_view kMarkLead =
    "\xF4\x8F";  // the lead bytes of all marks, and of the characters just below them
constexpr char32_t kReplacement = 0xFFFD;

}  // namespace

std::string mark_lone_surrogates(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  while (!json.empty()) {
    const size_t plain = std::min(json.find('\\'), json.size());
    out += json.substr(0, plain);
    json.remove_prefix(plain);
    const char32_t unit = parse_unicode_escape(json).value_or(0);
    size_t take = std::min<size_t>(2, json.size());  // the backslash and the character after it
    if (is_high_surrogate(unit) &&
        is_low_surrogate(parse_unicode_escape(json.substr(kUnicodeEscapeLength)).value_or(0))) {
      take = 2 * kUnicodeEscapeLength;
    } else if (is_high_surrogate(unit) || is_low_surrogate(unit)) {
      text::append_utf8(out, kFirstMark + (unit - 0xD800));
      json.remove_prefix(kUnicodeEscapeLength);
      continue;
    }
    out += json.substr(0, take);
    json.remove_prefix(take);
  }
  return out;
}

std::string SurrogateJoiner::push(std::string_view text) {
  if (high_ == 0 && text.find(kMarkLead) == text.npos) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const size_t at = std::min(text.find(kMarkLead), text.size());
    if (at > 0) {
      out += finish();
      out += text.substr(0, at);
      text.remove_prefix(at);
      continue;
    }
    size_t length = 0;
    const char32_t c = text::next_code_point(text, length);
    const char32_t unit = c >= kFirstMark ? 0xD800 + (c - kFirstMark) : 0;
    if (is_low_surrogate(unit) && high_ != 0) {
      const char32_t high = std::exchange(high_, 0);
      text::append_utf8(out, 0x10000 + ((high - 0xD800) << 10) + (unit - 0xDC00));
    } else {
      out += finish();
      if (is_high_surrogate(unit))
        high_ = unit;
      else if (is_low_surrogate(unit))
        text::append_utf8(out, kReplacement);
      else
        out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return out;
}

std::string SurrogateJoiner::finish() {
  std::string out;
  if (std::exchange(high_, 0) != 0) text::append_utf8(out, kReplacement);
  return out;
}

}  // namespace stoka::generate
