#include <fmt/format.h>

#include "eval/holds.h"
#include "eval/phrases.h"
#include "text/characters.h"
#include "text/utf8.h"

namespace stoka::eval::holds {
namespace {

constexpr size_t kLongestAddress = 2;  // "hi Anna Maria,"

bool has_capital(const Token& token) {
  size_t at = 0;
  return text::is_upper(text::next_code_point(token.raw, at));
}

Reason quoted(std::string_view verb, const Reason& phrase) {
  if (!phrase) return std::nullopt;
  return fmt::format("{} '{}'", verb, *phrase);
}

// "hi", "hi Anna", "hello, i am …", but not "hello world" and not "hello is printed".
class Greetings {
 public:
  explicit Greetings(const Phrases& phrases)
      : fillers_(phrases, "filler"),
        words_(phrases, "greeting_word"),
        next_(phrases, "greeting_next"),
        not_(phrases, "no_greeting") {}

  Reason find(const std::vector<Token>& tokens) const {
    const size_t i = fillers(tokens, fillers_);
    if (words_.at(tokens, i) == 0 || not_.at(tokens, i) != 0) return std::nullopt;
    const bool greets =
        breaks_at(tokens, i + 1) || next_.at(tokens, i + 1) != 0 || addresses(tokens, i);
    if (!greets) return std::nullopt;
    return tokens[i].word;
  }

 private:
  static bool addresses(const std::vector<Token>& tokens, size_t i) {
    for (size_t n = 1; n <= kLongestAddress && i + n < tokens.size(); ++n) {
      if (!has_capital(tokens[i + n])) return false;
      if (breaks_at(tokens, i + n + 1)) return true;
    }
    return false;
  }

  PhraseList fillers_, words_, next_, not_;
};

// "[that's] [a] [really] great [and …] question".
class Flatteries {
 public:
  explicit Flatteries(const Phrases& phrases)
      : fillers_(phrases, "filler"),
        leads_(phrases, "flattery_lead"),
        degrees_(phrases, "flattery_degree"),
        adjectives_(phrases, "flattery_adjective"),
        nouns_(phrases, "flattery_noun"),
        next_(phrases, "flattery_next") {}

  Reason find(const std::vector<Token>& tokens) const {
    const size_t start = fillers(tokens, fillers_);
    for (size_t i = start; i < tokens.size(); ++i) {
      if (i > start && tokens[i].sign == 0) continue;
      if (auto found = find_at(tokens, i, i == start)) return found;
    }
    return std::nullopt;
  }

 private:
  Reason find_at(const std::vector<Token>& tokens, size_t i, bool first) const {
    const auto word = [&](std::string_view wanted) {
      return i < tokens.size() && tokens[i].word == wanted;
    };
    const size_t lead = leads_.at(tokens, i);
    i += lead;
    while (i < tokens.size() && degrees_.has(tokens[i])) ++i;
    const bool article = word("a") || word("an");
    if (article) ++i;
    while (i < tokens.size() && degrees_.has(tokens[i])) ++i;
    const size_t adjective = i;
    while (i < tokens.size() && (adjectives_.has(tokens[i]) || (i > adjective && word("and")))) {
      ++i;
    }
    if (i == adjective || i >= tokens.size() || !nouns_.has(tokens[i])) return std::nullopt;
    const bool ends = breaks_at(tokens, i + 1);
    // "a good question to ask before a release" praises nobody, "a good idea." may be about a page.
    if (!first || (article && lead == 0)) {
      if (!ends || !tokens[i].word.starts_with("question")) return std::nullopt;
    } else if (!ends && next_.at(tokens, i + 1) == 0) {
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

}  // namespace

Reason greeting(const Answer& answer, const Phrases& phrases) {
  const std::vector<Sentence> said = spoken(answer);
  Reason found = find_in(said, Greetings(phrases));
  return quoted("greets:", found ? found : find_phrase(said, phrases, "greeting"));
}

Reason flattery(const Answer& answer, const Phrases& phrases) {
  const std::vector<Sentence> said = spoken(answer);
  Reason found = find_in(said, Flatteries(phrases));
  return quoted("flatters:", found ? found : find_phrase(said, phrases, "flattery"));
}

Reason sycophancy(const Answer& answer, const Phrases& phrases) {
  return quoted("says", find_phrase(spoken(answer), phrases, "sycophancy"));
}

Reason apology(const Answer& answer, const Phrases& phrases) {
  return quoted("says", find_phrase(spoken(answer), phrases, "apology"));
}

Reason alternatives(const Answer& answer, const Phrases& phrases) {
  return quoted("says", find_phrase(spoken(answer), phrases, "alternatives"));
}

}  // namespace stoka::eval::holds
