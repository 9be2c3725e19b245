// The analysis of text into words and index terms. Documents and queries are analysed alike. Pure,
// thread safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stoka::text {

// The version of the analysis, which the index records. An index of another version is refused.
// Increase it whenever terms() changes.
inline constexpr int kAnalysisVersion = 2;

struct Word {
  std::string text;  // the folded word, not stemmed
  size_t begin = 0;  // where the word begins, as a byte offset into the analysed text
  size_t end = 0;
};

// Returns the words in order. A word is a run of letters, digits and marks. An apostrophe inside a
// word is removed, together with a possessive s. A run in a script without spaces is split into
// overlapping pairs of letters. Compounds ("node.js") are split into their parts.
std::vector<Word> words(std::string_view text);

// Returns the index terms in order. They are the stems of words(); each Han character of a pair,
// since one alone can be a word; and whole compounds besides their parts. A compound is a run
// without white space whose parts are joined with . + # - _ / or which ends in + or # ("3.4.10",
// "c++", "rust-analyzer", "v2.1", "node.js"). A term has at most 64 bytes; a longer one is cut at a
// code point boundary.
std::vector<std::string> terms(std::string_view text);

// The English Snowball stem of a folded word.
std::string stem(std::string_view word);

// Whether a folded word is an English function word, which says nothing about the subject of a
// question ("the", "what", "do", "you", …).
bool is_stop_word(std::string_view word);

// Whether a folded word is a function word of one of seven other European languages. Some of these
// words are content words in English ("die", "os"), so use it to guess the language of a whole
// question, not to filter single words.
bool is_foreign_stop_word(std::string_view word);

}  // namespace stoka::text
