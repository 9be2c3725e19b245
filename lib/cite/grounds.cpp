#include "cite/grounds.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "base/ascii.h"
#include "text/characters.h"
#include "text/normalize.h"
#include "text/utf8.h"
#include "text/words.h"

namespace stoka::cite {
namespace {

constexpr auto kMonths =
    std::to_array<std::string_view>({"january", "february", "march", "april", "may", "june", "july",
                                     "august", "september", "october", "november", "december"});
constexpr auto kOrdinalEndings = std::to_array<std::string_view>({"st", "nd", "rd", "th"});
// Top-level domains and file extensions: the endings by which a word with a dot is a name.
constexpr auto kNameEndings = std::to_array<std::string_view>(
    {"com",  "org",  "net", "io",   "dev", "ai",   "app", "edu", "gov",  "js",
     "ts",   "py",   "rs",  "cpp",  "h",   "md",   "go",  "sh",  "c",    "cfg",
     "conf", "toml", "sql", "yaml", "yml", "json", "txt", "log", "html", "css"});

template <class List>
bool is_listed(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// The numbers of a text in a form that can be compared: "3.4.10", "09:41", "1024" for "1,024".
std::vector<std::string> numbers_in(std::string_view text) {
  std::vector<std::string> out;
  for (size_t at = 0; at < text.size();) {
    if (!is_ascii_digit(text[at])) {
      ++at;
      continue;
    }
    std::string number;
    while (at < text.size()) {
      const bool digit = at + 1 < text.size() && is_ascii_digit(text[at + 1]);
      const bool group = text[at] == ',' && at + 3 < text.size() && is_ascii_digit(text[at + 2]) &&
                         is_ascii_digit(text[at + 3]) &&
                         (at + 4 == text.size() || !is_ascii_digit(text[at + 4]));
      if (is_ascii_digit(text[at]) || ((text[at] == '.' || text[at] == ':') && digit)) {
        number += text[at];
      } else if (!(group && digit)) {
        break;
      }
      ++at;
    }
    // An ordinal such as "2nd" counts the points of the answer and is not a claim.
    const std::string_view ending = text.substr(std::min(at, text.size()), 2);
    const bool ordinal = number.size() == 1 && is_listed(kOrdinalEndings, ending);
    if (ordinal) continue;
    const bool plain = number.find_first_of(".:") == std::string::npos;
    while (plain && number.size() > 1 && number[0] == '0') number.erase(0, 1);
    out.push_back(std::move(number));
  }
  return out;
}

// The value of a number word: "seven", "second", "forty-two"; -1 for any other word.
int number_word_value(std::string_view word) {
  constexpr auto kUnits = std::to_array<std::string_view>(
      {"zero",     "one",     "two",     "three",     "four",     "five",    "six",
       "seven",    "eight",   "nine",    "ten",       "eleven",   "twelve",  "thirteen",
       "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"});
  constexpr auto kOrdinals =
      std::to_array<std::string_view>({"", "first", "second", "third", "fourth", "fifth", "sixth",
                                       "seventh", "eighth", "ninth", "tenth"});
  constexpr auto kTens = std::to_array<std::string_view>(
      {"twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"});
  const auto index_in = [](const auto& list, std::string_view wanted) {
    const auto found = std::find(list.begin(), list.end(), wanted);
    return found == list.end() ? -1 : static_cast<int>(found - list.begin());
  };
  if (const int unit = index_in(kUnits, word); unit >= 0) return unit;
  if (const int ordinal = index_in(kOrdinals, word); ordinal > 0) return ordinal;
  if (word == "hundred") return 100;
  if (word == "thousand") return 1000;
  const size_t hyphen = word.find('-');
  const int tens = index_in(kTens, word.substr(0, hyphen));
  if (tens < 0) return -1;
  if (hyphen == std::string_view::npos) return 20 + 10 * tens;
  const int unit = index_in(kUnits, word.substr(hyphen + 1));
  return unit > 0 && unit < 10 ? 20 + 10 * tens + unit : -1;
}

std::string joined_words(const std::vector<Token>& words) {
  std::string out = " ";
  for (const Token& token : words) out += token.word + ' ';
  return out;
}

// Whether a word has the form of an address, a path or an identifier.
bool is_term(std::string_view word) {
  const auto inner = [&](std::string_view sign) {
    const size_t at = word.find(sign);
    return at != std::string_view::npos && at > 0 && at + sign.size() < word.size();
  };
  if (inner("://") || word.starts_with("www.") || inner("_") || inner("::") || inner("->"))
    return true;
  if (word.ends_with("()") || (word.starts_with("--") && word.size() > 3)) return true;
  const auto letter = [&](size_t at) {
    return at < word.size() && text::is_word_character(static_cast<unsigned char>(word[at]));
  };
  if ((word[0] == '/' || word[0] == '$') && letter(1)) return true;
  for (size_t i = 1; i < word.size(); ++i) {
    if (is_ascii_upper(word[i]) && is_ascii_lower(word[i - 1])) return true;
  }
  const size_t dot = word.rfind('.');
  return dot != std::string_view::npos && dot > 1 && letter(dot - 1) &&
         is_listed(kNameEndings, to_lower(word.substr(dot + 1)));
}

// Returns the word without the punctuation around it.
std::string_view stripped_word(std::string_view word) {
  constexpr std::string_view kAround = "[]{}<>\"',;:.?!*`";
  while (!word.empty() && (kAround.find(word.front()) != kAround.npos || word.front() == '(')) {
    word.remove_prefix(1);
  }
  while (!word.empty() && (kAround.find(word.back()) != kAround.npos ||
                           (word.back() == ')' && !word.ends_with("()")))) {
    word.remove_suffix(1);
  }
  return word;
}

// Whether a word after this punctuation mark may begin a sentence, and so be capitalised.
bool may_begin_sentence_after(char32_t mark) {
  return mark != 0 &&
         std::u32string_view(U",;/&+%'\u2019)").find(mark) == std::u32string_view::npos;
}

}  // namespace

void Grounds::add(std::string_view part) {
  const std::string folded = text::fold(part);
  text_ += folded + '\n';
  for (const std::string& number : numbers_in(folded)) {
    numbers_.insert(number);
    // If "3.4.10" was retrieved, an answer may also state "3.4" and "3".
    for (size_t dot = number.find('.'); dot != std::string::npos; dot = number.find('.', dot + 1))
      numbers_.insert(number.substr(0, dot));
  }
  std::vector<Token> words = tokens(part);
  sequence_ += joined_words(words);
  for (Token& token : words) {
    if (const int number = number_word_value(token.word); number >= 0)
      numbers_.insert(std::to_string(number));
    words_.insert(std::move(token.word));
  }
  for (text::Word& word : text::words(part)) {
    stems_.insert(text::stem(word.text));
    words_.insert(std::move(word.text));
  }
}

void Grounds::add(const Chunk& chunk) {
  for (const std::string* part :
       {&chunk.title, &chunk.section, &chunk.content, &chunk.slug, &chunk.type, &chunk.url})
    add(*part);
  for (const std::string& tag : chunk.tags) add(tag);
  add(reading_time(chunk.reading_minutes));
  if (!chunk.date) return;
  add(iso_date(*chunk.date));
  add(short_date(*chunk.date, *chunk.date));
  const std::chrono::year_month_day day(*chunk.date);
  add(kMonths[static_cast<unsigned>(day.month()) - 1]);
}

void Grounds::add(const Citation& cite) {
  for (const std::string* part :
       {&cite.title, &cite.quote, &cite.slug, &cite.type, &cite.date, &cite.reading_time})
    add(*part);
}

bool Grounds::has_text(const std::string& part) const {
  return text_.find(part) != std::string::npos;
}

bool Grounds::has_word(std::string_view word) const {
  return words_.contains(word) || stems_.contains(text::stem(word));
}

std::optional<std::string> Grounds::unknown_number(std::string_view text) const {
  for (const std::string& number : numbers_in(text::fold(text))) {
    if (!numbers_.contains(number)) return number;
  }
  // The names of months are claims too, but "may" and "march" are also verbs.
  for (const Token& token : tokens(text)) {
    const bool month =
        is_listed(kMonths, token.word) && token.word != "may" && token.word != "march";
    if (month && !has_word(token.word)) return token.raw;
  }
  return std::nullopt;
}

std::optional<std::string> Grounds::unknown_term(std::string_view text) const {
  std::map<std::string, bool> looked_up;
  const auto has = [&](const std::string& part) {
    const auto [known, is_new] = looked_up.try_emplace(part, false);
    if (is_new) known->second = has_text(part);
    return known->second;
  };
  for (const std::string_view code : code_spans(text)) {
    const std::string folded = text::fold(code);
    if (!folded.empty() && !has(folded)) return folded;
  }
  const std::string prose = without_code(text);
  std::string_view rest = prose;
  for (auto field = take_field(rest); !field.empty(); field = take_field(rest)) {
    const std::string_view word = stripped_word(field);
    if (word.empty() || !is_term(word)) continue;
    std::string folded = text::fold(word);
    if (has(folded)) continue;
    while (folded.ends_with('/') || folded.ends_with('(') || folded.ends_with(')'))
      folded.pop_back();
    if (!has(folded)) return std::string(word);
  }
  return std::nullopt;
}

std::optional<std::string> Grounds::unknown_quotation(std::string_view text,
                                                      size_t min_words) const {
  for (const std::string_view quoted : quotations(text)) {
    const std::vector<Token> words = tokens(quoted);
    if (words.size() >= min_words && sequence_.find(joined_words(words)) == std::string::npos)
      return text::collapse_whitespace(quoted);
  }
  return std::nullopt;
}

std::optional<std::string> Grounds::unknown_name(std::string_view text,
                                                 const PhraseList& common) const {
  for (const Sentence& sentence : sentences_of(without_code(text))) {
    for (size_t i = 1; i < sentence.tokens.size(); ++i) {
      const Token& token = sentence.tokens[i];
      size_t after = 0;
      const bool capital = text::is_upper(text::next_code_point(token.raw, after));
      if (!capital || after == token.raw.size() || token.starts_line ||
          may_begin_sentence_after(token.punctuation))
        continue;
      if (text::is_stop_word(token.word) || common.contains(token)) continue;
      for (const text::Word& part : text::words(token.raw)) {
        if (!has_word(part.text) && !text::is_stop_word(part.text)) return token.raw;
      }
    }
  }
  return std::nullopt;
}

}  // namespace stoka::cite
