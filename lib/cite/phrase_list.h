// Lists of phrases, and how they are found in sentences.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cite/spoken_text.h"

namespace stoka::cite {

// Lists of phrases, by the name of the list.
using Phrases = std::map<std::string, std::vector<std::string>, std::less<>>;

// One list, ready to be matched against tokens, ignoring case. "^sorry" matches only at the start
// of a sentence and ",sorry" only at the start of a clause, where filler words such as "well" and
// "but" may precede; "thanks|" matches only if a punctuation mark, a new line or the end follows.
// Letters may be repeated ("sorryyy"). All functions are pure.
class PhraseList {
 public:
  PhraseList(const Phrases& phrases, std::string_view name);

  // The first phrase found in the sentence, as the list spells its words.
  std::optional<std::string> find(const Sentence& sentence) const;
  // The number of words of the longest phrase that begins at token i; 0 if there is none. The
  // position markers ("^", ",", "|") are ignored.
  size_t match_length(const std::vector<Token>& tokens, size_t i) const;
  bool contains(const Token& token) const;

 private:
  struct Phrase {
    std::vector<std::string> words;
    std::vector<std::string> collapsed;  // the words without repeated letters
    bool sentence_start = false;
    bool clause_start = false;
    bool ends = false;
  };
  static bool matches(const Phrase& phrase, const std::vector<Token>& tokens, size_t i);
  bool is_in_position(const Phrase& phrase, const std::vector<Token>& tokens, size_t i) const;

  std::vector<Phrase> phrases_;
  std::vector<std::string> fillers_;
};

// The first phrase of the list that is found in any of the sentences.
std::optional<std::string> find_phrase(const std::vector<Sentence>& sentences,
                                       const Phrases& phrases, std::string_view list);

// The number of filler words ("well", "but") before the first other word.
size_t count_fillers(const std::vector<Token>& tokens, const PhraseList& fillers);

// Whether the words before token i are followed by a punctuation mark, a new line or the end.
bool is_phrase_end(const std::vector<Token>& tokens, size_t i);

}  // namespace stoka::cite
