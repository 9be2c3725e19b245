#include "text/characters.h"

#include <utf8proc.h>

#include "base/ascii.h"

namespace stoka::text {
namespace {

bool in(char32_t c, char32_t first, char32_t last) { return c >= first && c <= last; }

utf8proc_category_t category(char32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

}  // namespace

bool is_space(char32_t c) {
  if (is_ascii(c)) return c == ' ' || in(c, '\t', '\r');
  return c == 0x85 || c == 0xA0 || c == 0x1680 || in(c, 0x2000, 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_control(char32_t c) { return c < 0x20 || in(c, 0x7F, 0x9F); }

bool is_word_character(char32_t c) {
  if (is_ascii(c)) return is_ascii_alnum(c);
  if (is_ignorable(c)) return false;
  auto kind = category(c);
  return kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_NO;
}

bool is_mark(char32_t c) {
  if (c < 0x300) return false;
  auto kind = category(c);
  return kind >= UTF8PROC_CATEGORY_MN && kind <= UTF8PROC_CATEGORY_ME;
}

bool is_upper(char32_t c) {
  if (is_ascii(c)) return is_ascii_upper(c);
  return category(c) == UTF8PROC_CATEGORY_LU || category(c) == UTF8PROC_CATEGORY_LT;
}

bool is_lower(char32_t c) {
  if (is_ascii(c)) return is_ascii_lower(c);
  return category(c) == UTF8PROC_CATEGORY_LL;
}

bool is_cjk(char32_t c) {
  return in(c, 0x1100, 0x11FF) || in(c, 0x2E80, 0x2FDF) || in(c, 0x3001, 0x33FF) ||
         in(c, 0x3400, 0x4DBF) || in(c, 0x4E00, 0x9FFF) || in(c, 0xA960, 0xA97F) ||
         in(c, 0xAC00, 0xD7FF) || in(c, 0xF900, 0xFAFF) || in(c, 0xFF01, 0xFF0F) ||
         in(c, 0xFF1A, 0xFF20) || in(c, 0xFF3B, 0xFF40) || in(c, 0xFF5B, 0xFFDC) ||
         in(c, 0x1B000, 0x1B2FF) || in(c, 0x20000, 0x3FFFD);
}

bool is_han(char32_t c) {
  return in(c, 0x3400, 0x4DBF) || in(c, 0x4E00, 0x9FFF) || in(c, 0xF900, 0xFAFF) ||
         in(c, 0x20000, 0x3FFFD);
}

bool is_hiragana(char32_t c) { return in(c, 0x3041, 0x309F); }

bool is_unspaced(char32_t c) {
  if (c < 0x0E00) return false;
  bool southeast = in(c, 0x0E00, 0x0EFF) || in(c, 0x1000, 0x109F) || in(c, 0x1780, 0x17FF);
  return (southeast || is_cjk(c)) && is_word_character(c) && !is_mark(c);
}

bool is_ignorable(char32_t c) {
  if (c < 0xAD) return false;
  return c == 0xAD || c == 0x34F || c == 0x61C || in(c, 0x17B4, 0x17B5) || in(c, 0x180B, 0x180F) ||
         in(c, 0x200B, 0x200F) || in(c, 0x202A, 0x202E) || in(c, 0x2060, 0x206F) || c == 0x3164 ||
         in(c, 0xFE00, 0xFE0F) || c == 0xFEFF || c == 0xFFA0 || in(c, 0xFFF9, 0xFFFB) ||
         in(c, 0xE0000, 0xE0FFF) || in(c, 0x115F, 0x1160);
}

bool is_emoji(char32_t c) {
  return in(c, 0x2600, 0x27BF) || in(c, 0x2B00, 0x2BFF) || in(c, 0x1F000, 0x1FAFF) ||
         in(c, 0x2300, 0x23FF) || c == 0x203C || c == 0x2049;
}

}  // namespace stoka::text
