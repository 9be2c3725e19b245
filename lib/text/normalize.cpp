#include "text/normalize.h"

#include <utf8proc.h>

#include <cstdlib>
#include <memory>

#include "text/characters.h"
#include "text/utf8.h"

namespace stoka::text {
namespace {

// Canonical ordering is quadratic in a run of marks; the Unicode stream-safe format allows 30.
constexpr int kMaxMarks = 30;

bool is_ascii(std::string_view text) {
  for (char c : text)
    if (static_cast<unsigned char>(c) >= 0x80) return false;
  return true;
}

// The text must be valid UTF-8.
std::string map(const std::string& text, int options) {
  utf8proc_uint8_t* mapped = nullptr;
  auto size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                           static_cast<utf8proc_ssize_t>(text.size()), &mapped,
                           static_cast<utf8proc_option_t>(options));
  std::unique_ptr<utf8proc_uint8_t, void (*)(void*)> owner(mapped, std::free);
  if (size < 0) return text;
  return {reinterpret_cast<const char*>(mapped), static_cast<size_t>(size)};
}

// ASCII spelling of typographic quotes and dashes, else the code point itself.
char32_t plain(char32_t c) {
  if (c < 0xAB) return c;
  if ((c >= 0x2018 && c <= 0x201B) || c == 0x2032 || c == 0x02BC || c == 0x2039 || c == 0x203A)
    return '\'';
  if ((c >= 0x201C && c <= 0x201F) || c == 0x2033 || c == 0xAB || c == 0xBB) return '"';
  if ((c >= 0x2010 && c <= 0x2015) || c == 0x2212) return '-';
  return c;
}

// Joins runs of white space and leaves out what carries no meaning.
class Squeezer {
 public:
  void add(char32_t c) {
    if (is_space(c)) {
      pending_ = !out_.empty();
      return;
    }
    if (pending_) out_ += ' ';
    pending_ = false;
    append_utf8(out_, c);
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
  bool pending_ = false;
};

// Copies without ignorable and control characters and without the tail of absurd runs of marks.
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

// Arabic to Mongolian: scripts in which a joiner changes how a word reads.
bool needs_joiners(char32_t c) { return c >= 0x0600 && c <= 0x18AF && is_word_character(c); }

bool is_variation_selector(char32_t c) { return c >= 0xFE00 && c <= 0xFE0F; }

// Whether a joiner or variation selector means something between these two.
bool belongs(char32_t c, char32_t previous, char32_t next) {
  if (is_variation_selector(c))
    return previous != 0 && !is_variation_selector(previous) && previous != ' ';
  bool emoji =
      c == 0x200D && (is_emoji(previous) || is_variation_selector(previous)) && is_emoji(next);
  return emoji || (needs_joiners(previous) && needs_joiners(next));
}

std::string trimmed(std::string_view text) {
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

}  // namespace

std::string fold(std::string_view text) {
  if (is_ascii(text)) {
    std::string out;
    out.reserve(text.size());
    bool pending = false;
    for (char c : text) {
      if (c == ' ' || (c >= '\t' && c <= '\r')) {
        pending = !out.empty();
      } else if (c > ' ' && c < 0x7F) {
        if (pending) out += ' ';
        pending = false;
        out += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
      }
    }
    return out;
  }
  std::string mapped =
      map(without_noise(text), UTF8PROC_STABLE | UTF8PROC_COMPAT | UTF8PROC_COMPOSE |
                                   UTF8PROC_CASEFOLD | UTF8PROC_IGNORE);
  Squeezer out;
  for (size_t at = 0; at < mapped.size();) out.add(plain(next_code_point(mapped, at)));
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
      if (!belongs(c, previous, next)) continue;
    } else if (is_ignorable(c)) {
      continue;
    }
    marks = is_mark(c) ? marks + 1 : 0;
    if (marks > kMaxMarks) continue;
    append_utf8(kept, c);
    previous = c;
  }
  if (!has_visible(kept)) return {};
  return trimmed(map(kept, UTF8PROC_STABLE | UTF8PROC_COMPOSE));
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

std::string squeeze(std::string_view text) {
  Squeezer out;
  for (size_t at = 0; at < text.size();) out.add(next_code_point(text, at));
  return out.take();
}

size_t length(std::string_view text) {
  size_t count = 0;
  for (size_t at = 0; at < text.size(); ++count) next_code_point(text, at);
  return count;
}

}  // namespace stoka::text
