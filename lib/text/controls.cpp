#include "text/controls.h"

#include "text/characters.h"
#include "text/utf8.h"

namespace stoka::text {
namespace {

bool steers(char32_t c) {
  if (c == '\n' || c == '\t') return false;
  return is_control(c) || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

bool breaks_line(char32_t c) { return c == '\v' || c == '\f' || c == 0x85; }

}  // namespace

std::string without_controls(std::string_view text, std::string_view in_place, size_t* found) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const char32_t c = next_code_point(text, at);
    if (!steers(c)) {
      out.append(text, begin, at - begin);
      continue;
    }
    if (found != nullptr) ++*found;
    if (in_place.empty() && breaks_line(c))
      out += '\n';
    else
      out += in_place;
  }
  return out;
}

}  // namespace stoka::text
