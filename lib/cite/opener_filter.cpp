#include "cite/opener_filter.h"

#include <algorithm>

#include "base/ascii.h"
#include "text/characters.h"
#include "text/normalize.h"
#include "text/utf8.h"

namespace stoka::cite {

namespace {

constexpr std::string_view kBut = "but ";

bool is_apostrophe(char32_t c) { return c == '\'' || c == 0x2019; }

bool is_stop(char32_t c) { return c == '.' || c == '?' || c == '!' || c == 0x2026; }

bool is_dash(char32_t c) { return c == '-' || c == 0x2013 || c == 0x2014; }

// Punctuation that can separate an opener from the text after it.
bool is_separator(char32_t c) {
  return is_stop(c) || is_dash(c) || c == ',' || c == ';' || c == ':' || c == '\n';
}

bool is_wrapping(char32_t c) {
  return c == '*' || c == '_' || c == '"' || c == 0x201C || c == 0x201D;
}

// Whether a character after a dropped opener is dropped too: punctuation, or a mark of emphasis.
bool is_residue(char32_t c) { return is_separator(c) || c == '*' || c == '_'; }

// The beginning of a text up to its first punctuation mark.
struct TextStart {
  std::string words;         // the words in lower case, without apostrophes, one space apart
  char32_t punctuation = 0;  // the punctuation mark; 0 if the text has none
  bool after_space = false;  // whether white space stands before the punctuation mark
  size_t end = 0;            // the offset after the punctuation mark
};

TextStart text_start(std::string_view text) {
  TextStart out;
  bool space = false;
  while (out.end < text.size()) {
    const char32_t c = text::next_code_point(text, out.end);
    if (c == ' ') {
      space = !out.words.empty();
    } else if (is_apostrophe(c) || (out.words.empty() && is_wrapping(c))) {
      continue;
    } else if (text::is_word_character(c)) {
      if (space) out.words += ' ';
      space = false;
      text::append_utf8(out.words, is_ascii_upper(c) ? c + ('a' - 'A') : c);
    } else {
      out.punctuation = c;
      out.after_space = space;
      break;
    }
  }
  return out;
}

}  // namespace

OpenerFilter::OpenerFilter(std::span<const std::string> phrases, std::string& out) : out_(out) {
  for (const std::string& given : phrases) {
    Phrase phrase;
    phrase.words = text::fold(given);
    std::erase(phrase.words, '\'');
    phrase.whole_sentence = phrase.words.ends_with('*');
    phrase.before_colon = phrase.words.ends_with(':');
    if (phrase.whole_sentence || phrase.before_colon) phrase.words.pop_back();
    while (phrase.words.ends_with(' ')) phrase.words.pop_back();
    if (!phrase.words.empty()) phrases_.push_back(std::move(phrase));
  }
}

void OpenerFilter::write(char32_t c) {
  switch (state_) {
    case State::passing:
      if (!has_visible_ && text::is_space(c)) return;
      has_visible_ = true;
      text::append_utf8(out_, c);
      break;
    case State::dropping:
      skip(c);
      break;
    case State::deciding:
      if (held_.empty() && (text::is_space(c) || (has_dropped_ && is_residue(c)))) return;
      text::append_utf8(held_, c);
      judge();
  }
}

void OpenerFilter::end() {
  if (state_ == State::deciding && !held_.empty()) {
    const TextStart at = text_start(held_);
    const bool opener = std::any_of(phrases_.begin(), phrases_.end(), [&](const Phrase& p) {
      return !p.before_colon && p.words == at.words;
    });
    if (opener) held_.clear();
    pass();
  }
  state_ = State::passing;
}

void OpenerFilter::skip(char32_t c) {
  if (c == '\n' || (c == ' ' && after_stop_)) {
    restart(0);
  } else if (is_stop(c)) {
    after_stop_ = true;
  } else if (text::is_word_character(c)) {
    after_stop_ = false;  // a full stop inside a word, as in "v2.1", does not end the sentence
  }
}

void OpenerFilter::judge() {
  if (has_dropped_) {
    const std::string lower = text::fold(held_.substr(0, kBut.size()));
    if (held_.size() >= kBut.size() && lower == "but" && held_[kBut.size() - 1] == ' ') {
      return restart(kBut.size());
    }
    if (held_.size() < kBut.size() && kBut.starts_with(lower)) return;
  }
  const TextStart at = text_start(held_);
  if (at.punctuation == 0) {
    judge_words(at.words);
  } else {
    judge_punctuation(at.words, at.punctuation, at.after_space, at.end);
  }
}

void OpenerFilter::judge_words(const std::string& words) {
  bool may_become = words.empty();
  for (const Phrase& phrase : phrases_) {
    if (phrase.whole_sentence && words.size() > phrase.words.size() &&
        words.starts_with(phrase.words) && words[phrase.words.size()] == ' ') {
      has_dropped_ = true;
      held_.clear();
      after_stop_ = false;
      state_ = State::dropping;
      return;
    }
    may_become = may_become || phrase.words.starts_with(words);
  }
  if (!may_become) pass();
}

void OpenerFilter::judge_punctuation(const std::string& words, char32_t punctuation,
                                     bool after_space, size_t end) {
  const bool is_compound = punctuation == '-' && !after_space;  // a compound such as "hi-fi"
  for (const Phrase& phrase : phrases_) {
    if (phrase.words != words || is_compound || !is_separator(punctuation)) continue;
    if (phrase.before_colon && punctuation != ':') continue;
    has_dropped_ = true;
    return restart(end);
  }
  pass();
}

// Drops the first `from` bytes of the held text. The rest may begin with another opener.
void OpenerFilter::restart(size_t from) {
  state_ = State::deciding;
  std::string_view rest = std::string_view(held_).substr(from);
  while (!rest.empty()) {
    size_t at = 0;
    const char32_t c = text::next_code_point(rest, at);
    if (!text::is_space(c) && !is_residue(c)) break;
    rest.remove_prefix(at);
  }
  held_ = std::string(rest);
  if (!held_.empty()) judge();
}

void OpenerFilter::pass() {
  state_ = State::passing;
  has_visible_ = has_visible_ || !held_.empty();
  out_ += held_;
  held_.clear();
}

}  // namespace stoka::cite
