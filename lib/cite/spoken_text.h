// Splits the text of an answer into sentences of tokens, and removes code and quotations from it
// for checks that are about the voice alone. All functions are pure, take time linear in the size
// of the text and accept any bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stoka::cite {

// The text that stands for removed code and quotations. It is a token of its own.
inline constexpr std::string_view kPlaceholder = "\xEF\xBF\xBC";  // U+FFFC

struct Token {
  std::string word;       // folded and without apostrophes; "hi-fi" and "v2.1" are one word
  std::string collapsed;  // the word with each run of a letter as one letter, if a run has three or
                          // more; else empty
  std::string raw;        // the word as written
  char32_t punctuation = 0;  // the last punctuation mark before the word; 0 if there is none
  bool starts_line = false;
};

struct Sentence {
  std::vector<Token> tokens;
  bool is_question = false;  // whether the sentence ends in a question mark
};

// Replaces each run of equal characters by one character.
std::string collapse_repeats(std::string_view word);

// Returns the contents of code spans and fenced code blocks.
std::vector<std::string_view> code_spans(std::string_view text);
std::string without_code(std::string_view text);

// Returns the contents of double quotation marks.
std::vector<std::string_view> quotations(std::string_view text);

// Returns the text without quotations in marks of any kind. Marks around the whole text stay.
std::string without_quotations(std::string_view text);

std::vector<Token> tokens(std::string_view text);

// Returns the sentences of the text that have at least one token.
std::vector<Sentence> sentences_of(std::string_view text);

}  // namespace stoka::cite
