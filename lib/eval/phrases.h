// What predicates look for in the words of a sentence; the lists stand in evals/phrases.toml.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "eval/predicates.h"
#include "eval/prose.h"

namespace stoka::eval {

// A phrase of words, in any case. "^sorry": first in its sentence, but for words like "well" and
// "but"; ",sorry": first in its clause; "thanks|": a sign, a new line or the end follows. Letters
// may be stretched ("sorryyy"). Pure; must not outlive the phrases.
class PhraseList {
 public:
  PhraseList(const Phrases& phrases, std::string_view name);

  // The first phrase that stands in the sentence, as the list spells its words.
  std::optional<std::string> find(const Sentence& sentence) const;
  // How many words the longest one that begins at this token has; place and end are not looked at.
  size_t at(const std::vector<Token>& tokens, size_t i) const;
  bool has(const Token& token) const;

 private:
  struct Phrase {
    std::vector<std::string> words;
    std::vector<std::string> loose;
    bool sentence_start = false;
    bool clause_start = false;
    bool ends = false;
  };
  static bool matches(const Phrase& phrase, const std::vector<Token>& tokens, size_t i);
  bool placed(const Phrase& phrase, const std::vector<Token>& tokens, size_t i) const;

  std::vector<Phrase> phrases_;
  std::vector<std::string> fillers_;
};

// The first phrase of the list in any of the sentences.
std::optional<std::string> find_phrase(const std::vector<Sentence>& sentences,
                                       const Phrases& phrases, std::string_view list);

// How many words at the front do not count as the beginning: "well", "but".
size_t fillers(const std::vector<Token>& tokens, const PhraseList& list);

// Whether nothing follows that belongs to the words before `i`.
bool breaks_at(const std::vector<Token>& tokens, size_t i);

}  // namespace stoka::eval
