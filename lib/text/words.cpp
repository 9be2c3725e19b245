#include "text/words.h"

#include <array>

#include "text/characters.h"
#include "text/normalize.h"
#include "text/utf8.h"

namespace stoka::text {
namespace {

constexpr size_t kMaxTerm = 64;

constexpr std::array<bool, 128> kAsciiWord = [] {
  std::array<bool, 128> table{};
  for (char c = '0'; c <= '9'; ++c) table[static_cast<size_t>(c)] = true;
  for (char c = 'a'; c <= 'z'; ++c) table[static_cast<size_t>(c)] = true;
  for (char c = 'A'; c <= 'Z'; ++c) table[static_cast<size_t>(c)] = true;
  return table;
}();

bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }
bool is_ascii_word(char c) { return is_ascii(c) && kAsciiWord[static_cast<size_t>(c)]; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

// Compatibility forms can fold to several words or to signs ("½", "ﷺ"); one word is wanted.
std::string fold_word(std::string_view raw) {
  std::string folded = fold(raw), out;
  for (size_t at = 0; at < folded.size();) {
    char32_t c = next_code_point(folded, at);
    if (is_word_character(c)) append_utf8(out, c);
  }
  return out;
}

// Walks a text and calls sink(folded, begin, end, unspaced) for each word.
template <class Sink>
class Scanner {
 public:
  Scanner(std::string_view text, Sink& sink) : text_(text), sink_(sink) {}

  void run() {
    while (at_ < text_.size()) {
      size_t begin = at_;
      if (is_ascii(text_[at_])) {
        if (is_ascii_word(text_[at_])) {
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
  // The code point at `at`, or 0 at the end. `at` moves past it.
  char32_t take(size_t& at) const { return at < text_.size() ? next_code_point(text_, at) : 0; }

  static bool is_apostrophe(char32_t c) { return c == '\'' || c == 0x2019 || c == 0xFF07; }
  static bool continues(char32_t c) { return c != 0 && is_word_character(c) && !is_unspaced(c); }

  // A word of a spaced script that begins here.
  void word(size_t begin) {
    raw_.clear();
    bool ascii = true;
    while (at_ < text_.size()) {
      if (is_ascii_word(text_[at_])) {
        raw_ += lower(text_[at_++]);
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

  // A run without spaces, whose first letter has been read, as overlapping pairs of letters.
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
  Scanner<Sink>(text, sink).run();
}

std::string cut(std::string_view term) {
  return std::string(
      term.substr(0, term.size() <= kMaxTerm ? term.size() : floor_border(term, kMaxTerm)));
}

// A run of words joined by signs, as far as it has been read.
struct Compound {
  std::string text;
  int joints = 0;

  void start(std::string_view word) {
    text.assign(word);
    joints = 0;
  }
  void join(std::string_view joint, std::string_view word) {
    ++joints;
    if (text.size() <= kMaxTerm) text.append(joint).append(word);
  }
};

bool is_plus(char c) { return c == '+' || c == '#'; }

// How many of + and # follow, at most three ("c++", "c#").
size_t plus_run(std::string_view text, size_t at) {
  size_t n = 0;
  while (n < 3 && at + n < text.size() && is_plus(text[at + n])) ++n;
  return n;
}

// What stands between two words, as the sign that joins them; empty if it does not join. Two signs
// in a row join only after + or #, so that "one--two" and "wait...what" stay apart.
std::string_view joint(std::string_view gap) {
  if (gap == "\xE2\x80\x90" || gap == "\xE2\x80\x91") return "-";  // typographic hyphens
  size_t plus = plus_run(gap, 0);
  std::string_view rest = gap.substr(plus);
  bool joins = rest.size() == 1 && std::string_view(".-_/").find(rest[0]) != std::string_view::npos;
  return joins || (rest.empty() && plus > 0) ? gap : std::string_view();
}

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
    out_.push_back(unspaced ? cut(word) : stem(word.size() <= kMaxTerm ? word : cut(word)));
    if (unspaced) letters(word);
  }

  void finish() {
    flush_letter();
    flush();
  }

 private:
  // The Han characters of a pair. Pairs overlap, so the second is emitted only once no other pair
  // begins with it.
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
  Compound whole_;      // everything since the last gap
  Compound part_;       // since the last slash, so that "src/node.js" is also found as "node.js"
  bool open_ = false;   // a run is being read
  bool split_ = false;  // the run contains a slash
  size_t end_ = 0;      // of the last word
  std::string letter_;  // second of the last pair, if it is Han
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
