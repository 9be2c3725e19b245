#include "text/words.h"

#include "base/ascii.h"
#include "text/characters.h"
#include "text/normalize.h"
#include "text/utf8.h"

namespace stoka::text {
namespace {

constexpr size_t kMaxTermBytes = 64;

// Folds one word. A compatibility form can fold to several words or to signs ("½", "ﷺ"); only the
// letters, digits and marks are kept, so that the result is one word.
std::string fold_word(std::string_view raw) {
  std::string folded = fold(raw), out;
  for (size_t at = 0; at < folded.size();) {
    char32_t c = next_code_point(folded, at);
    if (is_word_character(c)) append_utf8(out, c);
  }
  return out;
}

// Finds the words of a text and calls sink(folded, begin, end, unspaced) for each. `unspaced` is
// true for a pair of letters of a script without spaces.
template <class Sink>
class WordScanner {
 public:
  WordScanner(std::string_view text, Sink& sink) : text_(text), sink_(sink) {}

  void run() {
    while (at_ < text_.size()) {
      size_t begin = at_;
      if (is_ascii(text_[at_])) {
        if (is_ascii_alnum(text_[at_])) {
          word(begin);
        } else {
          ++at_;
        }
        continue;
      }
      char32_t c = next_code_point(text_, at_);
      if (is_unspaced(c)) {
        pairs(begin);
      } else if (is_word_character(c)) {
        at_ = begin;
        word(begin);
      }
    }
  }

 private:
  // Returns the code point at `at` and advances past it. Returns 0 at the end of the text.
  char32_t take(size_t& at) const { return at < text_.size() ? next_code_point(text_, at) : 0; }

  static bool is_apostrophe(char32_t c) { return c == '\'' || c == 0x2019 || c == 0xFF07; }
  static bool continues(char32_t c) { return c != 0 && is_word_character(c) && !is_unspaced(c); }

  // Reads a word of a script with spaces.
  void word(size_t begin) {
    raw_.clear();
    bool ascii = true;
    while (at_ < text_.size()) {
      if (is_ascii_alnum(text_[at_])) {
        raw_ += to_lower(text_[at_++]);
        continue;
      }
      size_t next = at_;
      char32_t c = take(next);
      if (is_apostrophe(c)) {
        size_t after = next;
        char32_t following = take(after);
        if (!continues(following)) break;
        if (following == 's' || following == 'S') {
          size_t beyond = after;
          if (!continues(take(beyond))) {
            at_ = after;
            break;
          }
        }
        at_ = next;
      } else if (is_ignorable(c)) {
        at_ = next;
      } else if (continues(c)) {
        raw_.append(text_, at_, next - at_);
        ascii = false;
        at_ = next;
      } else {
        break;
      }
    }
    if (!ascii) raw_ = fold_word(raw_);
    if (!raw_.empty()) sink_(std::string_view(raw_), begin, at_, false);
  }

  // Splits a run of a script without spaces into overlapping pairs of letters. The first letter has
  // been read.
  void pairs(size_t begin) {
    absorb_marks();
    size_t first = begin, second = at_;
    bool paired = false;
    while (at_ < text_.size()) {
      size_t next = at_;
      if (!is_unspaced(take(next))) break;
      at_ = next;
      absorb_marks();
      emit_pair(first, at_);
      paired = true;
      first = second;
      second = at_;
    }
    if (!paired) emit_pair(begin, at_);
  }

  void absorb_marks() {
    while (at_ < text_.size()) {
      size_t next = at_;
      char32_t c = take(next);
      if (!is_mark(c) && !is_ignorable(c)) break;
      at_ = next;
    }
  }

  void emit_pair(size_t begin, size_t end) {
    raw_ = fold_word(text_.substr(begin, end - begin));
    if (!raw_.empty()) sink_(std::string_view(raw_), begin, end, true);
  }

  std::string_view text_;
  Sink& sink_;
  size_t at_ = 0;
  std::string raw_;
};

template <class Sink>
void for_each_word(std::string_view text, Sink sink) {
  WordScanner<Sink>(text, sink).run();
}

std::string cut(std::string_view term) {
  return std::string(term.substr(
      0, term.size() <= kMaxTermBytes ? term.size() : floor_char_boundary(term, kMaxTermBytes)));
}

// A run of words that are joined by signs, as far as the run has been read.
struct Compound {
  std::string text;
  int joints = 0;

  void start(std::string_view word) {
    text.assign(word);
    joints = 0;
  }
  void join(std::string_view joint, std::string_view word) {
    ++joints;
    if (text.size() <= kMaxTermBytes) text.append(joint).append(word);
  }
};

bool is_plus(char c) { return c == '+' || c == '#'; }

// The number of + and # at `at`, at most three ("c++", "c#").
size_t plus_run(std::string_view text, size_t at) {
  size_t n = 0;
  while (n < 3 && at + n < text.size() && is_plus(text[at + n])) ++n;
  return n;
}

// Returns the sign in the gap between two words if it joins them, else nothing. Two signs in a row
// join words only after + or #, so that "one--two" and "wait...what" are not compounds.
std::string_view joint(std::string_view gap) {
  if (gap == "\xE2\x80\x90" || gap == "\xE2\x80\x91") return "-";  // a typographic hyphen
  size_t plus = plus_run(gap, 0);
  std::string_view rest = gap.substr(plus);
  bool joins = rest.size() == 1 && std::string_view(".-_/").find(rest[0]) != std::string_view::npos;
  return joins || (rest.empty() && plus > 0) ? gap : std::string_view();
}

// Makes index terms of words and of the gaps between them.
class TermBuilder {
 public:
  TermBuilder(std::string_view text, std::vector<std::string>& out) : text_(text), out_(out) {}

  void operator()(std::string_view word, size_t begin, size_t end, bool unspaced) {
    if (begin >= end_) flush_letter();
    std::string_view sign = open_ && !unspaced && begin > end_ && begin - end_ <= 4
                                ? joint(text_.substr(end_, begin - end_))
                                : std::string_view();
    if (sign.empty()) {
      flush();
      whole_.start(word);
      part_.start(word);
    } else {
      whole_.join(sign, word);
      if (sign.back() == '/') {
        emit(part_, {});
        part_.start(word);
        split_ = true;
      } else {
        part_.join(sign, word);
      }
    }
    open_ = !unspaced;
    end_ = end;
    out_.push_back(unspaced ? cut(word) : stem(word.size() <= kMaxTermBytes ? word : cut(word)));
    if (unspaced) letters(word);
  }

  void finish() {
    flush_letter();
    flush();
  }

 private:
  // Adds the Han characters of a pair as terms. Pairs overlap, so the second character is added
  // only when no further pair begins with it.
  void letters(std::string_view pair) {
    letter_.clear();
    size_t second = 0;
    bool han = is_han(next_code_point(pair, second));
    if (second == pair.size()) return;
    if (han) out_.emplace_back(pair.substr(0, second));
    size_t end = second;
    if (is_han(next_code_point(pair, end))) letter_ = pair.substr(second, end - second);
  }

  void flush_letter() {
    if (!letter_.empty()) out_.push_back(std::move(letter_));
    letter_.clear();
  }

  void flush() {
    if (open_) {
      std::string_view tail = text_.substr(end_, plus_run(text_, end_));
      if (split_) emit(part_, tail);
      emit(whole_, tail);
    }
    open_ = split_ = false;
  }

  void emit(Compound& compound, std::string_view tail) {
    if (compound.joints == 0 && tail.empty()) return;
    out_.push_back(cut(tail.empty() ? compound.text : compound.text + std::string(tail)));
  }

  std::string_view text_;
  std::vector<std::string>& out_;
  Compound whole_;      // the compound of everything since the last gap that does not join
  Compound part_;       // the part after the last slash: "src/node.js" is also found as "node.js"
  bool open_ = false;   // whether a run is being read
  bool split_ = false;  // whether the run contains a slash
  size_t end_ = 0;      // the end of the last word
  std::string letter_;  // the second letter of the last pair, if it is Han
};

}  // namespace

std::vector<Word> words(std::string_view text) {
  std::vector<Word> out;
  for_each_word(text, [&](std::string_view word, size_t begin, size_t end, bool) {
    out.push_back({std::string(word), begin, end});
  });
  return out;
}

std::vector<std::string> terms(std::string_view text) {
  std::vector<std::string> out;
  out.reserve(text.size() / 5);
  TermBuilder builder(text, out);
  for_each_word(text, [&](std::string_view word, size_t begin, size_t end, bool unspaced) {
    builder(word, begin, end, unspaced);
  });
  builder.finish();
  return out;
}

}  // namespace stoka::text
