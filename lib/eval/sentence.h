// The visible text of an answer as sentences of tokens. Predicates judge what the voice itself
// says, so code and quotations can be taken out first. Pure; linear in the size of the text;
// accepts any bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "eval/answer.h"

namespace stoka::eval {

// Replaces code and quotations that were taken out of a text. Counts as a token of its own.
inline constexpr std::string_view kPlaceholder = "\xEF\xBF\xBC";  // the character U+FFFC

struct Token {
  std::string word;       // a folded word without apostrophes; "hi-fi" or "snake_case" is one token
  std::string collapsed;  // runs of a letter reduced to one, if a run has three or more; else empty
  std::string raw;        // the word as written
  char32_t punctuation = 0;  // the last mark before the word; 0 if only white space precedes
  bool starts_line = false;
};

struct Sentence {
  std::vector<Token> tokens;
  bool is_question = false;  // whether the sentence ends in a question mark
};

// Replaces each run of equal characters by one character.
std::string collapse_repeats(std::string_view word);

// The contents of code spans and fenced code blocks.
std::vector<std::string_view> code_spans(std::string_view text);
std::string without_code(std::string_view text);

// The contents of double quotation marks.
std::vector<std::string_view> quotations(std::string_view text);

// The text without quotations in marks of any kind. Marks around the whole text do not count.
std::string without_quotations(std::string_view text);

std::vector<Token> tokens(std::string_view text);

// The sentences that have at least one token.
std::vector<Sentence> sentences_of(std::string_view text);

// The sentences of an answer whose code and quotations were taken out.
std::vector<Sentence> spoken_sentences(const Answer& answer);

}  // namespace stoka::eval
