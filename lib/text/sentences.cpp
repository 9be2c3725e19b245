#include "text/sentences.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/ascii.h"
#include "text/characters.h"
#include "text/utf8.h"

namespace stoka::text {
namespace {

// Abbreviations that never end a sentence.
constexpr auto kTitles = std::to_array<std::string_view>(
    {"mr", "mrs", "ms",     "dr",  "prof", "st", "rev", "gen", "sgt",  "capt", "vs",
     "cf", "viz", "approx", "e.g", "i.e",  "eg", "ie",  "ca",  "resp", "incl", "esp"});
// Abbreviations that end a sentence only before a capital letter.
constexpr auto kTrailers =
    std::to_array<std::string_view>({"etc", "inc", "ltd", "co", "corp", "jr", "sr", "al", "a.m",
                                     "p.m", "dept", "est", "min", "max"});
// Words that are abbreviations only before a number.
constexpr auto kNumbered = std::to_array<std::string_view>(
    {"no",  "nos", "vol", "fig", "figs", "p",   "pp",  "sec", "ch",   "eq",  "ver", "v",
     "jan", "feb", "mar", "apr", "jun",  "jul", "aug", "sep", "sept", "oct", "nov", "dec"});

template <class List>
bool holds(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool is_cjk_stop(char32_t c) { return c == 0x3002 || c == 0xFF01 || c == 0xFF1F || c == 0xFF61; }
bool is_stop(char32_t c) {
  return c == '.' || c == '!' || c == '?' || c == 0x2026 || c == 0x0964 || c == 0x061F ||
         c == 0x06D4 || c == 0x203D || is_cjk_stop(c);
}
bool is_closer(char32_t c) {
  return c == ')' || c == ']' || c == '}' || c == '"' || c == '\'' || c == 0x201D || c == 0x2019 ||
         c == 0xBB || c == 0x203A || c == 0x300D || c == 0x300F || c == 0xFF09 || c == 0x3011;
}

class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {}

  std::vector<Span> run() {
    while (at_ < text_.size()) {
      size_t before = at_;
      char32_t c = next_code_point(text_, at_);
      if (is_space(c)) {
        skip_space(before);
      } else {
        if (begin_ == kNone) begin_ = before;
        end_ = at_;
        if (is_stop(c)) stop(before, c);
      }
    }
    close();
    return std::move(out_);
  }

 private:
  static constexpr size_t kNone = static_cast<size_t>(-1);

  char32_t peek(size_t at) const { return at < text_.size() ? next_code_point(text_, at) : 0; }

  void close() {
    if (begin_ != kNone) out_.push_back({begin_, end_});
    begin_ = kNone;
  }

  // Skips white space. A blank line in it ends a sentence.
  void skip_space(size_t from) {
    int breaks = 0;
    at_ = from;
    while (at_ < text_.size()) {
      size_t next = at_;
      char32_t c = next_code_point(text_, next);
      if (!is_space(c)) break;
      breaks += c == '\n' || c == 0x2029;
      at_ = next;
    }
    if (breaks >= 2) close();
  }

  // The first code point after the white space at `at`. The result is cached for a run of white
  // space, so that many stops before one long run take linear time.
  char32_t first_after_space(size_t at) {
    if (at < looked_from_ || at > looked_to_) {
      looked_from_ = at;
      while (at < text_.size() && is_space(peek(at))) next_code_point(text_, at);
      looked_to_ = at;
    }
    return peek(looked_to_);
  }

  // Decides whether the stop that was read at `from` ends the sentence.
  void stop(size_t from, char32_t c) {
    bool cjk = is_cjk_stop(c), strong = c != '.' && c != 0x2026, closed = false;
    size_t dots = c == '.' ? 1 : 0;
    while (at_ < text_.size()) {
      size_t next = at_;
      char32_t d = next_code_point(text_, next);
      if (is_stop(d) && !closed) {
        cjk = cjk || is_cjk_stop(d);
        strong = strong || (d != '.' && d != 0x2026);
        dots += d == '.';
      } else if (is_closer(d)) {
        closed = true;
      } else {
        break;
      }
      at_ = next;
    }
    end_ = at_;
    char32_t next = peek(at_);
    if (cjk) return close();
    if (next != 0 && !is_space(next)) return;
    char32_t following = first_after_space(at_);
    bool lower = is_lower(following);
    if (following == 0) return close();
    bool ellipsis = !strong && (dots != 1 || c == 0x2026);
    if (lower && (closed || ellipsis)) return;
    if (!strong && !ellipsis && !closed && is_abbreviation(from, following)) return;
    close();
  }

  // Whether the single full stop at `dot` belongs to the word before it.
  bool is_abbreviation(size_t dot, char32_t following) const {
    constexpr size_t kMaxLength = 8;
    size_t start = dot;
    while (start > begin_ && dot - start <= kMaxLength) {
      char32_t c = static_cast<unsigned char>(text_[start - 1]);
      if (!is_ascii(c) || (!is_word_character(c) && c != '.')) break;
      --start;
    }
    if (start == dot || dot - start > kMaxLength) return false;
    std::string word(text_.substr(start, dot - start));
    bool digits = std::all_of(word.begin(), word.end(), is_ascii_digit);
    if (digits) return start == begin_;  // digits at the start of a sentence number a list item
    bool initial = word.size() == 1 && is_upper(static_cast<unsigned char>(word[0])) && word != "I";
    word = stoka::to_lower(word);
    bool upper = is_upper(following);
    if (initial && upper) return true;
    if (holds(kTitles, word)) return true;
    if (holds(kTrailers, word)) return !upper;
    if (holds(kNumbered, word)) return is_ascii_digit(following);
    // An abbreviation can be single letters with full stops between them, as in "U.S. Army".
    for (size_t i = 0; i < word.size(); ++i)
      if ((i % 2 == 1) != (word[i] == '.')) return false;
    return word.size() >= 3;
  }

  std::string_view text_;
  std::vector<Span> out_;
  size_t at_ = 0;
  size_t begin_ = kNone;  // where the sentence that is being read begins; kNone between sentences
  size_t end_ = 0;        // the end of the sentence's last visible character
  size_t looked_from_ = kNone, looked_to_ = 0;
};

}  // namespace

std::vector<Span> sentences(std::string_view text) { return Splitter(text).run(); }

size_t count_sentences(std::string_view text) {
  size_t count = 0;
  for (const Span& span : sentences(text)) {
    for (size_t at = span.begin; at < span.end;) {
      if (!is_word_character(next_code_point(text, at))) continue;
      ++count;
      break;
    }
  }
  return count;
}

}  // namespace stoka::text
