#include "text/pull_quote.h"

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <vector>

#include "base/ascii.h"
#include "text/characters.h"
#include "text/code_lines.h"
#include "text/normalize.h"
#include "text/sentences.h"
#include "text/utf8.h"
#include "text/words.h"

namespace stoka::text {
namespace {

// The points that a sentence can get. A penalty that must decide alone is larger than the sum of
// all smaller values.
constexpr int kPerSharedStem = 12;
constexpr int kMaxShared = 5;
constexpr int kGoodLength = 20;
constexpr int kFairLength = 8;
constexpr int kFragment = -20;        // the sentence has fewer than kMinWords words
constexpr int kTooLong = -60;         // the sentence has more than kMaxQuoteLength code points
constexpr int kDependent = -16;       // the first word refers to the sentence before
constexpr int kCrossReference = -14;  // the sentence refers to another place of its page
constexpr int kGeneral = 6;           // the sentence makes a general statement
constexpr int kNarrative = -5;        // the sentence tells of one event
constexpr int kSubject = 4;  // the sentence has a word of the question among its first words
constexpr int kShows = 10;   // the sentence introduces code that has a word of the question
constexpr size_t kOpeningWords = 3;
constexpr size_t kMinWords = 5;   // a sentence with fewer words is a fragment
constexpr int kOtherPart = -9;    // the sentence is in another part than the chunk that was found
constexpr int kUnfinished = -30;  // the sentence has no full stop at the end
constexpr int kAnnouncing = -60;  // the sentence ends in a colon, comma or semicolon
constexpr int kNotProse = -1200;  // the sentence is a table row, a link or code
constexpr int kQuestion = -600;
constexpr int kLoud = -3000;     // the sentence has an exclamation mark or an emoji
constexpr int kDamaged = -6000;  // the sentence has a U+FFFD

// A sentence that begins with one of these words depends on the sentence before it.
constexpr auto kDependentWords = std::to_array<std::string_view>(
    {"this",  "that",    "it",        "its",       "and",     "but",  "these", "those",
     "they",  "their",   "them",      "he",        "she",     "his",  "her",   "so",
     "or",    "nor",     "yet",       "then",      "however", "also", "such",  "because",
     "which", "instead", "otherwise", "therefore", "thus",    "here", "there"});

// A sentence that begins with "the" and one of these words also depends on the one before it.
constexpr auto kDependentAfterThe = std::to_array<std::string_view>(
    {"same", "other", "others", "former", "latter", "first", "second", "third", "rest", "reason",
     "result", "answer", "exception", "difference", "point"});
constexpr auto kCrossReferenceWords =
    std::to_array<std::string_view>({"above", "below", "described", "following", "section",
                                     "article", "chapter", "essay", "linked"});
constexpr auto kGeneralWords = std::to_array<std::string_view>(
    {"is", "are", "isnt", "arent", "does", "doesnt", "dont", "can", "cant", "cannot", "must",
     "should", "never", "always", "nobody", "nothing", "every", "only", "without"});
constexpr auto kNarrativeWords = std::to_array<std::string_view>(
    {"was", "were", "had", "did", "i", "me", "my", "wasnt", "werent", "didnt"});

constexpr auto kLinkSigns = std::to_array<std::string_view>({"http://", "https://", "www."});
constexpr auto kCodeSigns = std::to_array<std::string_view>(
    {"()", "();", "=>", "->", "==", "!=",  "::", "</",  "/>",       "&&",
     "||", "${",  "`",  "{",  "}",  " = ", "+=", "://", "#include", "//"});

template <class List>
bool contains_any(std::string_view text, const List& parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
    return text.find(part) != std::string_view::npos;
  });
}

template <class List>
bool has_word(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

template <class List>
bool has_any_word(const std::vector<Word>& words, const List& list) {
  return std::any_of(words.begin(), words.end(),
                     [&](const Word& word) { return has_word(list, word.text); });
}

bool is_dependent(const std::vector<Word>& words) {
  if (words.empty()) return false;
  if (has_word(kDependentWords, words[0].text)) return true;
  return words.size() > 1 && words[0].text == "the" && has_word(kDependentAfterThe, words[1].text);
}

bool has_digit(std::string_view sentence) {
  return std::any_of(sentence.begin(), sentence.end(), is_ascii_digit);
}

// Removes the marker of a list item or of a quoted line.
std::string_view without_marker(std::string_view line) {
  for (const std::string_view marker : {"- ", "* ", "+ ", "> ", "\u2022 "}) {
    if (line.starts_with(marker)) return line.substr(marker.size());
  }
  return line;
}

struct Ending {
  bool stop = false;
  bool question = false;
  bool colon = false;
};

// Returns how a sentence ends: its last character before any closing quotes and brackets.
Ending ending(std::string_view sentence) {
  std::vector<char32_t> tail;
  for (size_t at =
           floor_char_boundary(sentence, sentence.size() - std::min<size_t>(sentence.size(), 16));
       at < sentence.size();) {
    tail.push_back(next_code_point(sentence, at));
  }
  while (
      !tail.empty() &&
      std::u32string_view(U"\"'\u201D\u2019)]\u00BB\u300D\u300F\uFF09\u3011").find(tail.back()) !=
          std::u32string_view::npos) {
    tail.pop_back();
  }
  Ending out;
  if (tail.empty()) return out;
  const char32_t last = tail.back();
  out.question = last == '?' || last == 0xFF1F;
  out.stop = out.question || last == '.' || last == 0x2026 || last == 0x3002 || last == 0xFF61 ||
             last == '!' || last == 0xFF01;
  out.colon = last == ':' || last == 0xFF1A || last == ',' || last == ';';
  return out;
}

struct Traits {
  bool loud = false;        // the text has an exclamation mark or an emoji
  bool tab_or_bar = false;  // the text has a tab or a '|', as in a table
  bool damaged = false;     // the text has a U+FFFD
  size_t length = 0;        // the length in code points
};

Traits traits_of(std::string_view sentence) {
  Traits out;
  for (size_t at = 0; at < sentence.size(); ++out.length) {
    const char32_t c = next_code_point(sentence, at);
    if (c == '!' || c == 0xFF01 || is_emoji(c)) out.loud = true;
    if (c == '|' || c == '\t') out.tab_or_bar = true;
    if (c == 0xFFFD) out.damaged = true;
  }
  return out;
}

std::set<std::string> content_stems(std::string_view query) {
  std::set<std::string> out;
  for (const Word& word : words(query)) {
    if (!is_stop_word(word.text)) out.insert(stem(word.text));
  }
  return out;
}

// The points of a sentence. `code` is the code right after it, which it may introduce; empty if
// there is none.
int score(std::string_view sentence, std::string_view code, const std::set<std::string>& wanted) {
  const std::vector<Word> parts = words(sentence);
  const Traits traits = traits_of(sentence);
  const Ending end = ending(sentence);
  int points = 0;

  std::set<std::string> shared;
  bool names_subject = false;
  for (size_t i = 0; i < parts.size() && !wanted.empty(); ++i) {
    std::string root = stem(parts[i].text);
    if (!wanted.contains(root)) continue;
    names_subject = names_subject || i < kOpeningWords;
    shared.insert(std::move(root));
  }
  const bool is_full = parts.size() >= kMinWords;
  bool code_shares = false;
  if (is_full && !wanted.empty()) {
    for (const Word& word : words(code)) {
      std::string root = stem(word.text);
      if (!wanted.contains(root)) continue;
      shared.insert(std::move(root));
      code_shares = true;
    }
  }
  const bool introduces = is_full && !code.empty() && !shared.empty();
  points += kPerSharedStem * std::min(static_cast<int>(shared.size()), kMaxShared);
  if (names_subject) points += kSubject;
  if (code_shares) points += kShows;

  if (parts.size() >= 8 && parts.size() <= 30) {
    points += kGoodLength;
  } else if (is_full && parts.size() <= 40) {
    points += kFairLength;
  } else if (!is_full) {
    points += kFragment;
  }
  if (traits.length > kMaxQuoteLength) points += kTooLong;
  if (is_dependent(parts)) points += kDependent;
  if (has_any_word(parts, kCrossReferenceWords)) points += kCrossReference;
  if (has_any_word(parts, kNarrativeWords) || has_digit(sentence))
    points += kNarrative;
  else if (has_any_word(parts, kGeneralWords))
    points += kGeneral;
  if (!end.stop && !introduces) points += kUnfinished;
  if (end.colon && !introduces) points += kAnnouncing;
  if (traits.tab_or_bar || contains_any(sentence, kLinkSigns) ||
      contains_any(sentence, kCodeSigns) || parts.empty()) {
    points += kNotProse;
  }
  if (end.question) points += kQuestion;
  if (traits.loud) points += kLoud;
  if (traits.damaged) points += kDamaged;
  return points;
}

}  // namespace

bool is_quotable(std::string_view text) { return text.find("\\n") == std::string_view::npos; }

std::string_view clip(std::string_view text, size_t length) {
  size_t end = 0;
  size_t word = 0;
  size_t clause = 0;
  size_t count = 0;
  char32_t last = 0;
  while (end < text.size() && count < length) {
    const size_t before = end;
    const char32_t c = next_code_point(text, end);
    ++count;
    if (is_space(c)) {
      if (!is_space(last)) word = before;
      const bool ends_clause = last == ',' || last == ';' || last == ':' || last == 0x2014;
      if (ends_clause && count * 2 > length) clause = before - (last == 0x2014 ? 3 : 1);
    }
    last = c;
  }
  if (end == text.size()) return text;
  size_t at = end;
  if (is_space(next_code_point(text, at))) word = end;
  if (clause == 0) clause = word > 0 ? word : end;
  while (clause > 0 && text[clause - 1] == ' ') --clause;
  return text.substr(0, clause);
}

std::string best_sentence(std::string_view content, std::string_view query) {
  return best_sentence(content, {}, query);
}

std::string best_sentence(std::string_view content, std::span<const std::string> document,
                          std::string_view query) {
  const std::set<std::string> wanted = content_stems(query);
  std::string_view best;
  int best_points = std::numeric_limits<int>::min();
  const auto search_part = [&](std::string_view part, int penalty) {
    const std::vector<Segment> segments = split_code(part);
    for (size_t i = 0; i < segments.size(); ++i) {
      if (segments[i].is_code) continue;
      const std::string_view prose = segments[i].text;
      const std::vector<Span> spans = sentences(prose);
      for (const Span& span : spans) {
        const std::string_view sentence = without_marker(span.in(prose));
        if (sentence.empty() || !is_quotable(sentence)) continue;
        const bool before_code = &span == &spans.back() && i + 1 < segments.size();
        const std::string_view code = before_code ? segments[i + 1].text : std::string_view();
        const int points = score(sentence, code, wanted) + penalty;
        if (points <= best_points) continue;
        best = sentence;
        best_points = points;
      }
    }
  };
  search_part(content, 0);
  for (const std::string& part : document)
    if (part != content) search_part(part, kOtherPart);
  return std::string(clip(collapse_whitespace(best), kMaxQuoteLength));
}

}  // namespace stoka::text
