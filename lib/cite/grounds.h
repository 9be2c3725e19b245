// What an answer may state: the numbers, terms, names and quotations of what was retrieved and
// asked. The stream drops sentences that state anything else, and the evaluation reports them.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "cite/phrase_list.h"
#include "model/event.h"
#include "model/hit.h"

namespace stoka::cite {

// The class is not thread safe while something is added. Each unknown_ function returns the first
// claim of its kind that occurs nowhere in the grounds, in the spelling of the text.
class Grounds {
 public:
  void add(std::string_view text);
  void add(const Chunk& chunk);  // adds the text of the chunk and its metadata
  void add(const Citation& citation);

  // Looks for numbers in any notation of digits, and for names of months.
  std::optional<std::string> unknown_number(std::string_view text) const;
  // Looks for code, and for words with the form of an address, a path or an identifier.
  std::optional<std::string> unknown_term(std::string_view text) const;
  // Looks for quotations in double quotation marks that have at least `min_words` words.
  std::optional<std::string> unknown_quotation(std::string_view text, size_t min_words) const;
  // Looks for capitalised words that do not begin a sentence and are not in `common`.
  std::optional<std::string> unknown_name(std::string_view text, const PhraseList& common) const;

 private:
  bool has_text(const std::string& part) const;  // `part` must be folded
  bool has_word(std::string_view word) const;

  std::string text_;
  std::string sequence_;  // all words, separated by spaces
  std::set<std::string> numbers_;
  std::set<std::string, std::less<>> words_, stems_;
};

}  // namespace stoka::cite
