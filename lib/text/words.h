// From text to the terms that are indexed and searched. One analysis for documents and queries.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stoka::text {

// Recorded in the index; a different analysis cannot be searched. Raise it when terms() changes.
inline constexpr int kAnalysisVersion = 2;

struct Word {
  std::string text;  // folded, not stemmed
  size_t begin = 0;  // byte offsets into the analysed text
  size_t end = 0;
};

// Words in order: runs of letters, digits and marks; apostrophes inside a word are dropped with
// their possessive s; CJK runs are cut into overlapping pairs. Parts only, no compounds.
std::vector<Word> words(std::string_view text);

// Index terms in order: the stem of each word, besides pairs each Han character of theirs, since
// one can be a word, and, besides the parts, compounds kept whole: runs without white space that
// join parts with . + # - _ / or end in + or # ("3.4.10", "c++", "rust-analyzer", "v2.1",
// "node.js"). Terms are at most 64 bytes; longer ones are cut at a border.
std::vector<std::string> terms(std::string_view text);

// English Snowball stem of a folded word. Thread safe.
std::string stem(std::string_view word);

// A function word that carries no content in a question ("the", "what", "do", "you", …). Folded
// input.
bool is_stop_word(std::string_view word);

// The same of seven other European languages. Some of them are words or names in English ("die",
// "os"): it says something of a question, not of one word. Folded input.
bool is_foreign_stop_word(std::string_view word);

}  // namespace stoka::text
