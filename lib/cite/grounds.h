// What an answer may state: the numbers, terms, names and quotations of what was retrieved and
// asked. The stream drops sentences with others, and the evaluation reports them.
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

// Not thread safe while something is added. Each function returns the first claim of the text that
// occurs nowhere in the grounds, as the text has it.
class Grounds {
 public:
  void add(std::string_view text);
  void add(const Chunk& chunk);  // with its metadata
  void add(const Citation& citation);

  // Numbers in any notation of digits, and names of months.
  std::optional<std::string> unknown_number(std::string_view text) const;
  // Code, and words with the form of an address, a path or an identifier.
  std::optional<std::string> unknown_term(std::string_view text) const;
  // A quotation in double quotation marks of at least that many words.
  std::optional<std::string> unknown_quotation(std::string_view text, size_t min_words) const;
  // A capitalised word that does not begin a sentence and is none of `common`.
  std::optional<std::string> unknown_name(std::string_view text, const PhraseList& common) const;

 private:
  bool has_text(const std::string& part) const;  // `part` must be folded
  bool has_word(std::string_view word) const;

  std::string text_;
  std::string sequence_;  // all words, between spaces
  std::set<std::string> numbers_;
  std::set<std::string, std::less<>> words_, stems_;
};

}  // namespace stoka::cite
