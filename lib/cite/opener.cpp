#include "cite/opener.h"

#include <algorithm>

#include "text/characters.h"
#include "text/normalize.h"
#include "text/utf8.h"

namespace stoka::cite {

namespace {

constexpr std::string_view kBut = "but ";

bool is_apostrophe(char32_t c) { return c == '\'' || c == 0x2019; }

bool is_stop(char32_t c) { return c == '.' || c == '?' || c == '!' || c == 0x2026; }

bool is_dash(char32_t c) { return c == '-' || c == 0x2013 || c == 0x2014; }

// Signs that can stand between an opener and what it opens.
bool separates(char32_t c) {
  return is_stop(c) || is_dash(c) || c == ',' || c == ';' || c == ':' || c == '\n';
}

bool is_wrapping(char32_t c) {
  return c == '*' || c == '_' || c == '"' || c == 0x201C || c == 0x201D;
}

// What is left of a dropped opener: more signs, the end of its emphasis.
bool trails(char32_t c) { return separates(c) || c == '*' || c == '_'; }

// Folded words of the front of a text, up to its first sign.
struct Front {
  std::string words;
  char32_t sign = 0;   // 0: the text ended
  bool apart = false;  // white space before the sign
  size_t end = 0;      // after the sign
};

Front front(std::string_view text) {
  Front out;
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
      text::append_utf8(out.words, c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
    } else {
      out.sign = c;
      out.apart = space;
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
    phrase.sentence = phrase.words.ends_with('*');
    phrase.label = phrase.words.ends_with(':');
    if (phrase.sentence || phrase.label) phrase.words.pop_back();
    while (phrase.words.ends_with(' ')) phrase.words.pop_back();
    if (!phrase.words.empty()) phrases_.push_back(std::move(phrase));
  }
}

void OpenerFilter::write(char32_t c) {
  switch (state_) {
    case State::over:
      if (!visible_ && text::is_space(c)) return;
      visible_ = true;
      text::append_utf8(out_, c);
      break;
    case State::dropping:
      skip(c);
      break;
    case State::deciding:
      if (held_.empty() && (text::is_space(c) || (dropped_ > 0 && trails(c)))) return;
      text::append_utf8(held_, c);
      judge();
  }
}

void OpenerFilter::end() {
  if (state_ == State::deciding && !held_.empty()) {
    const Front at = front(held_);
    const bool opener = std::any_of(phrases_.begin(), phrases_.end(), [&](const Phrase& p) {
      return !p.label && p.words == at.words;
    });
    if (opener) {
      ++dropped_;
      held_.clear();
    }
    pass();
  }
  state_ = State::over;
}

void OpenerFilter::skip(char32_t c) {
  if (c == '\n' || (c == ' ' && stopped_)) {
    restart(0);
  } else if (is_stop(c)) {
    stopped_ = true;
  } else if (text::is_word_character(c)) {
    stopped_ = false;  // "v2.1"
  }
}

void OpenerFilter::judge() {
  if (dropped_ > 0) {
    const std::string lower = text::fold(held_.substr(0, kBut.size()));
    if (held_.size() >= kBut.size() && lower == "but" && held_[kBut.size() - 1] == ' ') {
      return restart(kBut.size());
    }
    if (held_.size() < kBut.size() && kBut.starts_with(lower)) return;
  }
  const Front at = front(held_);
  if (at.sign == 0) {
    judge_words(at.words);
  } else {
    judge_sign(at.words, at.sign, at.apart, at.end);
  }
}

void OpenerFilter::judge_words(const std::string& words) {
  bool may_become = words.empty();
  for (const Phrase& phrase : phrases_) {
    if (phrase.sentence && words.size() > phrase.words.size() && words.starts_with(phrase.words) &&
        words[phrase.words.size()] == ' ') {
      ++dropped_;
      held_.clear();
      stopped_ = false;
      state_ = State::dropping;
      return;
    }
    may_become = may_become || phrase.words.starts_with(words);
  }
  if (!may_become) pass();
}

void OpenerFilter::judge_sign(const std::string& words, char32_t sign, bool apart, size_t end) {
  const bool compound = sign == '-' && !apart;  // "hi-fi"
  for (const Phrase& phrase : phrases_) {
    if (phrase.words != words || compound || !separates(sign)) continue;
    if (phrase.label && sign != ':') continue;
    ++dropped_;
    return restart(end);
  }
  pass();
}

// What follows a dropped opener may be the next one.
void OpenerFilter::restart(size_t from) {
  state_ = State::deciding;
  std::string_view rest = std::string_view(held_).substr(from);
  while (!rest.empty()) {
    size_t at = 0;
    const char32_t c = text::next_code_point(rest, at);
    if (!text::is_space(c) && !trails(c)) break;
    rest.remove_prefix(at);
  }
  held_ = std::string(rest);
  if (!held_.empty()) judge();
}

void OpenerFilter::pass() {
  state_ = State::over;
  visible_ = visible_ || !held_.empty();
  out_ += held_;
  held_.clear();
}

}  // namespace stoka::cite
