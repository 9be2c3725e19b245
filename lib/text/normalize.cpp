#include "text/normalize.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "base/ascii.h"
#include "text/characters.h"
#include "text/utf8.h"

namespace stoka::text {
namespace {

// The canonical ordering of a run of combining marks takes quadratic time, so longer runs are cut.
// The stream-safe text format of Unicode allows 30 marks.
constexpr int kMaxMarks = 30;

bool is_all_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return is_ascii(c); });
}

// Applies utf8proc's mapping to the text, which must be valid UTF-8.
std::string map(const std::string& text, int options) {
  utf8proc_uint8_t* mapped = nullptr;
  auto size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                           static_cast<utf8proc_ssize_t>(text.size()), &mapped,
                           static_cast<utf8proc_option_t>(options));
  std::unique_ptr<utf8proc_uint8_t, void (*)(void*)> owner(mapped, std::free);
  if (size < 0) return text;
  return {reinterpret_cast<const char*>(mapped), static_cast<size_t>(size)};
}

// The ASCII form of a typographic quote or dash; any other code point is returned unchanged.
char32_t ascii_punctuation(char32_t c) {
  if (c < 0xAB) return c;
  if ((c >= 0x2018 && c <= 0x201B) || c == 0x2032 || c == 0x02BC || c == 0x2039 || c == 0x203A)
    return '\'';
  if ((c >= 0x201C && c <= 0x201F) || c == 0x2033 || c == 0xAB || c == 0xBB) return '"';
  if ((c >= 0x2010 && c <= 0x2015) || c == 0x2212) return '-';
  return c;
}

// Replaces runs of white space with one space, and removes them at both ends.
class WhitespaceCollapser {
 public:
  void add(char32_t c) {
    if (is_space(c)) {
      space_pending_ = !out_.empty();
      return;
    }
    if (space_pending_) out_ += ' ';
    space_pending_ = false;
    append_utf8(out_, c);
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
  bool space_pending_ = false;
};

// Copies the text without ignorable and control characters, and with runs of marks cut to
// kMaxMarks.
std::string without_noise(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  int marks = 0;
  for (size_t at = 0; at < text.size();) {
    char32_t c = next_code_point(text, at);
    if (is_ignorable(c) || (is_control(c) && !is_space(c))) continue;
    marks = is_mark(c) ? marks + 1 : 0;
    if (marks <= kMaxMarks) append_utf8(out, c);
  }
  return out;
}

bool is_joiner(char32_t c) { return c == 0x200C || c == 0x200D; }

// The blocks from Arabic to Mongolian hold the scripts in which a joiner changes the form of a
// word.
bool needs_joiners(char32_t c) { return c >= 0x0600 && c <= 0x18AF && is_word_character(c); }

bool is_variation_selector(char32_t c) { return c >= 0xFE00 && c <= 0xFE0F; }

// Whether a joiner or variation selector has a meaning between the two given code points.
bool has_meaning(char32_t c, char32_t previous, char32_t next) {
  if (is_variation_selector(c))
    return previous != 0 && !is_variation_selector(previous) && previous != ' ';
  bool emoji =
      c == 0x200D && (is_emoji(previous) || is_variation_selector(previous)) && is_emoji(next);
  return emoji || (needs_joiners(previous) && needs_joiners(next));
}

// Removes white space of any script at both ends.
std::string trim_unicode(std::string_view text) {
  size_t begin = text.size(), end = 0;
  for (size_t at = 0; at < text.size();) {
    size_t from = at;
    if (is_space(next_code_point(text, at))) continue;
    if (begin == text.size()) begin = from;
    end = at;
  }
  return begin < end ? std::string(text.substr(begin, end - begin)) : std::string();
}

bool has_visible(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    char32_t c = next_code_point(text, at);
    constexpr char32_t kBrailleBlank = 0x2800;
    if (!is_space(c) && !is_ignorable(c) && !is_mark(c) && c != kBrailleBlank) return true;
  }
  return false;
}

// Whether a character is a control or bidi override, which can change the terminal or reorder text.
bool is_unsafe_control(char32_t c) {
  if (c == '\n' || c == '\t') return false;
  return is_control(c) || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

bool is_vertical_break(char32_t c) { return c == '\v' || c == '\f' || c == 0x85; }

}  // namespace

std::string fold(std::string_view text) {
  if (is_all_ascii(text)) {
    std::string out;
    out.reserve(text.size());
    bool space_pending = false;
    for (char c : text) {
      if (c == ' ' || (c >= '\t' && c <= '\r')) {
        space_pending = !out.empty();
      } else if (c > ' ' && c < 0x7F) {
        if (space_pending) out += ' ';
        space_pending = false;
        out += to_lower(c);
      }
    }
    return out;
  }
  std::string mapped =
      map(without_noise(text), UTF8PROC_STABLE | UTF8PROC_COMPAT | UTF8PROC_COMPOSE |
                                   UTF8PROC_CASEFOLD | UTF8PROC_IGNORE);
  WhitespaceCollapser out;
  for (size_t at = 0; at < mapped.size();) out.add(ascii_punctuation(next_code_point(mapped, at)));
  return out.take();
}

std::string clean_query(std::string_view text) {
  std::string kept;
  kept.reserve(text.size());
  char32_t previous = 0;
  int marks = 0;
  for (size_t at = 0; at < text.size();) {
    char32_t c = next_code_point(text, at);
    if (is_control(c) || c == 0x2028 || c == 0x2029) c = ' ';
    if (is_joiner(c) || is_variation_selector(c)) {
      size_t ahead = at;
      char32_t next = ahead < text.size() ? next_code_point(text, ahead) : 0;
      if (!has_meaning(c, previous, next)) continue;
    } else if (is_ignorable(c)) {
      continue;
    }
    marks = is_mark(c) ? marks + 1 : 0;
    if (marks > kMaxMarks) continue;
    append_utf8(kept, c);
    previous = c;
  }
  if (!has_visible(kept)) return {};
  return trim_unicode(map(kept, UTF8PROC_STABLE | UTF8PROC_COMPOSE));
}

std::string one_line(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    char32_t c = next_code_point(text, at);
    append_utf8(out, is_control(c) || c == 0x2028 || c == 0x2029 ? U' ' : c);
  }
  return out;
}

std::string collapse_whitespace(std::string_view text) {
  WhitespaceCollapser out;
  for (size_t at = 0; at < text.size();) out.add(next_code_point(text, at));
  return out.take();
}

std::string replace_controls(std::string_view text, std::string_view replacement, size_t* count) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const char32_t c = next_code_point(text, at);
    if (!is_unsafe_control(c)) {
      out.append(text, begin, at - begin);
      continue;
    }
    if (count != nullptr) ++*count;
    if (replacement.empty() && is_vertical_break(c))
      out += '\n';
    else
      out += replacement;
  }
  return out;
}

size_t count_code_points(std::string_view text) {
  size_t count = 0;
  for (size_t at = 0; at < text.size(); ++count) next_code_point(text, at);
  return count;
}

}  // namespace stoka::text
