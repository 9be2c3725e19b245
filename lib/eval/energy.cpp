#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "eval/holds.h"
#include "eval/phrases.h"
#include "text/characters.h"
#include "text/utf8.h"
#include "text/words.h"

namespace stoka::eval::holds {
namespace {

constexpr size_t kShouted = 3;   // words in a row; fewer are terms or stressed
constexpr size_t kLongWord = 5;  // letters; acronyms are shorter

// At least two letters, all of them capitals.
bool is_capitals(const Token& token) {
  size_t capitals = 0;
  for (size_t at = 0; at < token.raw.size();) {
    const char32_t c = text::next_code_point(token.raw, at);
    if (text::is_lower(c) || (c >= '0' && c <= '9') || c == '_') return false;
    capitals += text::is_upper(c);
  }
  return capitals >= 2;
}

// "I" and "A" neither shout nor calm down.
bool is_neutral(const Token& token) { return token.raw.size() == 1; }

// The words in capitals of what was retrieved, and of a question that is not shouted itself.
std::set<std::string> known_capitals(const Answer& answer) {
  std::set<std::string> out;
  const auto add = [&](const std::vector<Token>& from) {
    for (const Token& token : from) {
      if (is_capitals(token)) out.insert(token.raw);
    }
  };
  for (const Hit& hit : answer.ranked) {
    add(tokens(hit.chunk.title));
    add(tokens(hit.chunk.section));
    add(tokens(hit.chunk.content));
  }
  const std::vector<Token> asked = tokens(answer.query);
  const bool shouted = std::none_of(asked.begin(), asked.end(), [](const Token& token) {
    return !is_capitals(token) && !is_neutral(token);
  });
  if (!shouted) add(asked);
  return out;
}

Reason shouting(const std::vector<Sentence>& sentences, const std::set<std::string>& known) {
  for (const Sentence& sentence : sentences) {
    size_t run = 0, others = 0, shouted = 0, long_words = 0;
    bool stop_word = false;  // "IT WORKS", but not "AWS, GCP"
    std::string first;
    for (const Token& token : sentence.tokens) {
      if (is_neutral(token)) continue;
      if (!is_capitals(token) || known.contains(token.raw)) {
        run = 0;
        ++others;
        continue;
      }
      ++shouted;
      long_words += token.raw.size() >= kLongWord;
      stop_word = stop_word || text::is_stop_word(token.word);
      if (++run == 1) first = token.raw;
      if (run >= kShouted) return fmt::format("shouts: '{} …'", first);
    }
    const bool words = stop_word || long_words >= 2;
    if (shouted >= 2 && others == 0 && words) return fmt::format("shouts: '{} …'", first);
  }
  return std::nullopt;
}

bool is_roman(std::string_view word) {
  return word.find_first_not_of("ivxlcdm") == std::string_view::npos;
}

// "sooo", but not "www", "xxx", "viii".
bool is_stretched(const Token& token) {
  if (token.loose.empty() || token.word.starts_with("www")) return false;
  if (token.word.find_first_of("0123456789_.-") != std::string::npos) return false;
  return !is_roman(token.word) && (token.loose.size() > 1 || token.word.size() > 3);
}

Reason stretched(const std::vector<Sentence>& sentences, const Answer& answer) {
  std::set<std::string> known;
  for (const Hit& hit : answer.ranked) {
    for (Token& token : tokens(hit.chunk.content)) known.insert(std::move(token.word));
  }
  for (const Sentence& sentence : sentences) {
    for (const Token& token : sentence.tokens) {
      if (is_stretched(token) && !known.contains(token.word)) {
        return fmt::format("stretches a word: '{}'",
                           token.raw.substr(0, text::floor_border(token.raw, 40)));
      }
    }
  }
  return std::nullopt;
}

// "what??", but not the operator "a ?? b".
Reason question_marks(std::string_view text) {
  for (size_t at = text.find("??"); at != text.npos; at = text.find("??", at + 2)) {
    if (at > 0 && text::is_word_character(static_cast<unsigned char>(text[at - 1]))) {
      return "asks with more than one question mark";
    }
  }
  return std::nullopt;
}

}  // namespace

Reason energy(const Answer& answer, const Phrases& phrases) {
  if (Reason found = exclamation(answer, phrases)) return found;
  if (Reason found = emoji(answer, phrases)) return found;
  if (Reason found = find_phrase(spoken(answer), phrases, "energy")) {
    return fmt::format("says '{}'", *found);
  }
  const std::string prose = without_code(answer.text());
  const std::vector<Sentence> sentences = sentences_of(prose);
  if (Reason found = shouting(sentences, known_capitals(answer))) return found;
  if (Reason found = stretched(sentences, answer)) return found;
  return question_marks(prose);
}

}  // namespace stoka::eval::holds
