#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/ascii.h"
#include "eval/predicates.h"
#include "text/characters.h"
#include "text/utf8.h"
#include "text/words.h"

namespace stoka::eval::predicate {
namespace {

constexpr size_t kMaxNameWords = 2;  // words of a name after a greeting: "hi Anna Maria,"

bool has_capital(const Token& token) {
  size_t at = 0;
  return text::is_upper(text::next_code_point(token.raw, at));
}

Reason with_verb(std::string_view verb, const Reason& phrase) {
  if (!phrase) return std::nullopt;
  return fmt::format("{} '{}'", verb, *phrase);
}

// Finds "hi", "hi Anna", "hello, i am …", but not "hello world" and not "hello is printed".
class GreetingFinder {
 public:
  explicit GreetingFinder(const Phrases& phrases)
      : fillers_(phrases, "filler"),
        words_(phrases, "greeting_word"),
        next_(phrases, "greeting_next"),
        not_(phrases, "no_greeting") {}

  Reason find(const std::vector<Token>& tokens) const {
    const size_t i = count_fillers(tokens, fillers_);
    if (words_.match_length(tokens, i) == 0 || not_.match_length(tokens, i) != 0)
      return std::nullopt;
    const bool greets = is_phrase_end(tokens, i + 1) || next_.match_length(tokens, i + 1) != 0 ||
                        addresses(tokens, i);
    if (!greets) return std::nullopt;
    return tokens[i].word;
  }

 private:
  // Whether a name follows the greeting at token i.
  static bool addresses(const std::vector<Token>& tokens, size_t i) {
    for (size_t n = 1; n <= kMaxNameWords && i + n < tokens.size(); ++n) {
      if (!has_capital(tokens[i + n])) return false;
      if (is_phrase_end(tokens, i + n + 1)) return true;
    }
    return false;
  }

  PhraseList fillers_, words_, next_, not_;
};

// Finds "[that's] [a] [really] great [and …] question".
class FlatteryFinder {
 public:
  explicit FlatteryFinder(const Phrases& phrases)
      : fillers_(phrases, "filler"),
        leads_(phrases, "flattery_lead"),
        degrees_(phrases, "flattery_degree"),
        adjectives_(phrases, "flattery_adjective"),
        nouns_(phrases, "flattery_noun"),
        next_(phrases, "flattery_next") {}

  Reason find(const std::vector<Token>& tokens) const {
    const size_t start = count_fillers(tokens, fillers_);
    for (size_t i = start; i < tokens.size(); ++i) {
      if (i > start && tokens[i].punctuation == 0) continue;
      if (auto found = find_at(tokens, i, i == start)) return found;
    }
    return std::nullopt;
  }

 private:
  Reason find_at(const std::vector<Token>& tokens, size_t i, bool first) const {
    const auto word = [&](std::string_view wanted) {
      return i < tokens.size() && tokens[i].word == wanted;
    };
    const size_t lead = leads_.match_length(tokens, i);
    i += lead;
    while (i < tokens.size() && degrees_.contains(tokens[i])) ++i;
    const bool article = word("a") || word("an");
    if (article) ++i;
    while (i < tokens.size() && degrees_.contains(tokens[i])) ++i;
    const size_t adjective = i;
    while (i < tokens.size() &&
           (adjectives_.contains(tokens[i]) || (i > adjective && word("and")))) {
      ++i;
    }
    if (i == adjective || i >= tokens.size() || !nouns_.contains(tokens[i])) return std::nullopt;
    const bool ends = is_phrase_end(tokens, i + 1);
    // "a good question to ask before a release" is no praise, and "a good idea." may be about a
    // page.
    if (!first || (article && lead == 0)) {
      if (!ends || !tokens[i].word.starts_with("question")) return std::nullopt;
    } else if (!ends && next_.match_length(tokens, i + 1) == 0) {
      return std::nullopt;
    }
    return fmt::format("{} {}", tokens[adjective].word, tokens[i].word);
  }

  PhraseList fillers_, leads_, degrees_, adjectives_, nouns_, next_;
};

template <class Finder>
Reason find_in(const std::vector<Sentence>& sentences, const Finder& finder) {
  for (const Sentence& sentence : sentences) {
    if (auto found = finder.find(sentence.tokens)) return found;
  }
  return std::nullopt;
}

constexpr size_t kMinShoutedRun = 3;       // words in capitals; fewer are technical terms or stress
constexpr size_t kMinLongWordLetters = 5;  // letters of a long word; acronyms are shorter

// Whether the token has at least two letters, all of them capitals, and no digits.
bool is_capitals(const Token& token) {
  size_t capitals = 0;
  for (size_t at = 0; at < token.raw.size();) {
    const char32_t c = text::next_code_point(token.raw, at);
    if (text::is_lower(c) || is_ascii_digit(c) || c == '_') return false;
    capitals += text::is_upper(c);
  }
  return capitals >= 2;
}

// "I" and "A" are always capitals and therefore no sign of shouting.
bool is_neutral(const Token& token) { return token.raw.size() == 1; }

// The words in capitals of the retrieved chunks and of the question, unless the whole question is
// in capitals. An answer may repeat them.
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
    bool stop_word = false;  // whether one of the words is a stop word: "IT WORKS"; not "AWS, GCP"
    std::string first;
    for (const Token& token : sentence.tokens) {
      if (is_neutral(token)) continue;
      if (!is_capitals(token) || known.contains(token.raw)) {
        run = 0;
        ++others;
        continue;
      }
      ++shouted;
      long_words += token.raw.size() >= kMinLongWordLetters;
      stop_word = stop_word || text::is_stop_word(token.word);
      if (++run == 1) first = token.raw;
      if (run >= kMinShoutedRun) return fmt::format("shouts: '{} …'", first);
    }
    const bool words = stop_word || long_words >= 2;
    if (shouted >= 2 && others == 0 && words) return fmt::format("shouts: '{} …'", first);
  }
  return std::nullopt;
}

bool is_roman(std::string_view word) {
  return word.find_first_not_of("ivxlcdm") == std::string_view::npos;
}

// Whether letters are repeated for emphasis: "sooo", but not "www", "xxx", "viii".
bool is_stretched(const Token& token) {
  if (token.collapsed.empty() || token.word.starts_with("www")) return false;
  if (token.word.find_first_of("0123456789_.-") != std::string::npos) return false;
  return !is_roman(token.word) && (token.collapsed.size() > 1 || token.word.size() > 3);
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
                           token.raw.substr(0, text::floor_char_boundary(token.raw, 40)));
      }
    }
  }
  return std::nullopt;
}

// Finds "what??", but not the operator "a ?? b".
Reason repeated_question_marks(std::string_view text) {
  for (size_t at = text.find("??"); at != text.npos; at = text.find("??", at + 2)) {
    if (at > 0 && text::is_word_character(static_cast<unsigned char>(text[at - 1]))) {
      return "asks with more than one question mark";
    }
  }
  return std::nullopt;
}

}  // namespace

Reason greeting(const Answer& answer, const Phrases& phrases) {
  const std::vector<Sentence> sentences = spoken_sentences(answer);
  Reason found = find_in(sentences, GreetingFinder(phrases));
  return with_verb("greets:", found ? found : find_phrase(sentences, phrases, "greeting"));
}

Reason flattery(const Answer& answer, const Phrases& phrases) {
  const std::vector<Sentence> sentences = spoken_sentences(answer);
  Reason found = find_in(sentences, FlatteryFinder(phrases));
  return with_verb("flatters:", found ? found : find_phrase(sentences, phrases, "flattery"));
}

Reason sycophancy(const Answer& answer, const Phrases& phrases) {
  return with_verb("says", find_phrase(spoken_sentences(answer), phrases, "sycophancy"));
}

Reason apology(const Answer& answer, const Phrases& phrases) {
  return with_verb("says", find_phrase(spoken_sentences(answer), phrases, "apology"));
}

Reason alternatives(const Answer& answer, const Phrases& phrases) {
  return with_verb("says", find_phrase(spoken_sentences(answer), phrases, "alternatives"));
}

Reason energy(const Answer& answer, const Phrases& phrases) {
  if (Reason found = exclamation(answer, phrases)) return found;
  if (Reason found = emoji(answer, phrases)) return found;
  if (Reason found = find_phrase(spoken_sentences(answer), phrases, "energy")) {
    return fmt::format("says '{}'", *found);
  }
  const std::string prose = without_code(answer.text());
  const std::vector<Sentence> sentences = sentences_of(prose);
  if (Reason found = shouting(sentences, known_capitals(answer))) return found;
  if (Reason found = stretched(sentences, answer)) return found;
  return repeated_question_marks(prose);
}

}  // namespace stoka::eval::predicate
