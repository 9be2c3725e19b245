#include "cite/spoken_text.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/ascii.h"
#include "text/characters.h"
#include "text/normalize.h"
#include "text/sentences.h"
#include "text/utf8.h"

namespace stoka::cite {
namespace {

// A quotation mark without a partner within this many bytes opens no quotation. Single marks are
// limited to fewer, because an apostrophe looks the same.
constexpr size_t kMaxQuotationBytes = 1200;
constexpr size_t kMaxSingleQuotedBytes = 200;
constexpr char32_t kPlaceholderCharacter = 0xFFFC;

char32_t peek(std::string_view text, size_t at) {
  return at < text.size() ? text::next_code_point(text, at) : 0;
}

bool is_any_apostrophe(char32_t c) {
  return c == '\'' || c == 0x2019 || c == 0x02BC || c == 0xFF07;
}

// The mark that closes a quotation opened by `c`; 0 if `c` is no opening mark.
char32_t closing_mark(char32_t c) {
  switch (c) {
    case '"':
      return '"';
    case '\'':
      return '\'';
    case 0x201C:
    case 0x201E:
      return 0x201D;
    case 0x2018:
      return 0x2019;
    case 0xAB:
      return 0xBB;
    case 0x300C:
      return 0x300D;
    default:
      return 0;
  }
}

// Whether a quotation can open after this character.
bool can_open_after(char32_t before) {
  return before == 0 || text::is_space(before) || before == '(' || before == '[' ||
         before == 0x2014 || before == '*' || before == '_';
}

// The offset of the mark that closes the quotation whose content begins at `from`; npos if there is
// none.
size_t end_of_quotation(std::string_view text, size_t from, char32_t close) {
  const bool single = close == '\'' || close == 0x2019;
  const size_t last =
      std::min(text.size(), from + (single ? kMaxSingleQuotedBytes : kMaxQuotationBytes));
  for (size_t at = from; at < last;) {
    const size_t here = at;
    const char32_t c = text::next_code_point(text, at);
    if (c == '\n' && peek(text, at) == '\n') break;
    if (c != close || here == from) continue;
    if (single && text::is_word_character(peek(text, at))) continue;
    return here;
  }
  return std::string_view::npos;
}

bool is_sentence_end(char c) { return c == '.' || c == '!' || c == '?'; }

std::string_view without_outer_quotes(std::string_view text) {
  text = trimmed(text);
  if (text.empty()) return text;
  size_t from = 0;
  const char32_t open = text::next_code_point(text, from);
  const char32_t close = closing_mark(open);
  if (close == 0) return text;
  const size_t end = end_of_quotation(text, from, close);
  if (end == std::string_view::npos) return text;
  size_t after = end;
  text::next_code_point(text, after);
  return after == text.size() ? text.substr(from, end - from) : text;
}

// A range of the text that the placeholder replaces.
struct Cut {
  size_t begin, end;
  std::string_view inside;
  bool single = false;
  bool ends_sentence = false;
};

std::vector<Cut> code_cuts(std::string_view text) {
  struct Run {
    size_t begin, end;
    size_t partner = 0;  // index of the next run of the same length; 0 if there is none
  };
  std::vector<Run> runs;
  for (size_t at = text.find('`'); at < text.size(); at = text.find('`', at)) {
    const size_t end = std::min(text.find_first_not_of('`', at), text.size());
    runs.push_back({at, end});
    at = end;
  }
  std::map<size_t, size_t> next;  // by the length of a run, the index of the next such run
  for (size_t i = runs.size(); i-- > 0;) {
    size_t& last = next[runs[i].end - runs[i].begin];
    runs[i].partner = last;
    last = i;
  }
  std::vector<Cut> out;
  for (const Run& run : runs) {
    if (run.partner == 0 || (!out.empty() && run.begin < out.back().end)) continue;
    const Run& close = runs[run.partner];
    const bool fence = run.end - run.begin >= 3;
    const std::string_view inside = text.substr(run.end, close.begin - run.end);
    if (!fence && inside.find("\n\n") != std::string_view::npos) continue;
    out.push_back({run.begin, close.end, inside});
  }
  return out;
}

std::vector<Cut> quotation_cuts(std::string_view text) {
  std::vector<Cut> out;
  char32_t before = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t here = at;
    const char32_t c = text::next_code_point(text, at);
    const char32_t close = closing_mark(c);
    const char32_t next = peek(text, at);
    // A mark for inches or an apostrophe opens no quotation.
    if (close != 0 && can_open_after(before) && next != 0 && !text::is_space(next)) {
      const size_t end = end_of_quotation(text, at, close);
      if (end != std::string_view::npos) {
        const std::string_view inside = text.substr(at, end - at);
        at = end;
        before = text::next_code_point(text, at);
        out.push_back(
            {here, at, inside, close == '\'' || close == 0x2019, is_sentence_end(inside.back())});
        continue;
      }
    }
    before = c;
  }
  return out;
}

std::string without(std::string_view text, const std::vector<Cut>& cuts) {
  std::string out;
  size_t at = 0;
  for (const Cut& cut : cuts) {
    out += text.substr(at, cut.begin - at);
    out += kPlaceholder;
    if (cut.ends_sentence) out += cut.inside.back();
    at = cut.end;
  }
  out += text.substr(at);
  return out;
}

// Whether the character `c`, followed by `next`, joins two words into one token.
bool joins_words(char32_t c, char32_t next) {
  return (c == '-' || c == 0x2010 || c == 0x2011 || c == '.' || c == '_') &&
         text::is_word_character(next) && !text::is_unspaced(next);
}

}  // namespace

std::string collapse_repeats(std::string_view word) {
  std::string out;
  char32_t last = 0;
  for (size_t at = 0; at < word.size();) {
    const char32_t c = text::next_code_point(word, at);
    if (c != last) text::append_utf8(out, c);
    last = c;
  }
  return out;
}

std::vector<std::string_view> code_spans(std::string_view text) {
  std::vector<std::string_view> out;
  for (const Cut& cut : code_cuts(text)) out.push_back(cut.inside);
  return out;
}

std::string without_code(std::string_view text) { return without(text, code_cuts(text)); }

std::vector<std::string_view> quotations(std::string_view text) {
  std::vector<std::string_view> out;
  for (const Cut& cut : quotation_cuts(text)) {
    if (!cut.single) out.push_back(cut.inside);
  }
  return out;
}

std::string without_quotations(std::string_view text) {
  text = without_outer_quotes(text);
  return without(text, quotation_cuts(text));
}

std::vector<Token> tokens(std::string_view text) {
  std::vector<Token> out;
  Token token;
  char32_t punctuation = 0;
  bool starts_line = true;
  const auto finish = [&] {
    if (token.raw.empty()) return;
    token.word = token.raw == kPlaceholder ? token.raw : text::fold(token.raw);
    std::erase(token.word, '\'');
    if (!token.word.empty()) {
      char32_t last = 0;
      size_t run = 0, longest = 0;
      for (size_t at = 0; at < token.word.size();) {
        const char32_t c = text::next_code_point(token.word, at);
        run = c == last ? run + 1 : 1;
        longest = std::max(longest, run);
        last = c;
      }
      if (longest >= 3) token.collapsed = collapse_repeats(token.word);
      token.punctuation = std::exchange(punctuation, 0);
      token.starts_line = std::exchange(starts_line, false);
      out.push_back(std::move(token));
    }
    token = {};
  };
  char32_t before = 0;
  for (size_t at = 0; at < text.size();) {
    const char32_t c = text::next_code_point(text, at);
    if (text::is_ignorable(c)) continue;
    const bool inside = !token.raw.empty();
    if (c == kPlaceholderCharacter || (text::is_word_character(c) && text::is_unspaced(c))) {
      finish();
      text::append_utf8(token.raw, c);
      finish();
    } else if (text::is_word_character(c) || (text::is_mark(c) && inside)) {
      text::append_utf8(token.raw, c);
    } else if (inside && is_any_apostrophe(c) && text::is_word_character(peek(text, at))) {
      token.raw += '\'';
    } else if (inside && text::is_word_character(before) && joins_words(c, peek(text, at))) {
      text::append_utf8(token.raw, is_ascii(c) ? c : U'-');
    } else {
      finish();
      const bool emphasis = c == '*' || c == '_' || is_any_apostrophe(c);
      if (c == '\n') {
        starts_line = true;
      } else if (!text::is_space(c) && !emphasis) {
        punctuation = c;
      }
    }
    before = c;
  }
  finish();
  return out;
}

std::vector<Sentence> sentences_of(std::string_view text) {
  std::vector<Sentence> out;
  for (const text::Span& span : text::sentences(text)) {
    const std::string_view sentence = span.in(text);
    Sentence next{tokens(sentence), false};
    if (next.tokens.empty()) continue;
    const std::string_view tail = sentence.substr(text::floor_char_boundary(
        sentence, sentence.size() - std::min<size_t>(sentence.size(), 6)));
    next.is_question = tail.find('?') != std::string_view::npos ||
                       tail.find("\xEF\xBC\x9F") != std::string_view::npos;
    out.push_back(std::move(next));
  }
  return out;
}

}  // namespace stoka::cite
