// Visible text as sentences of words, for predicates that look for what a voice says: code and what
// stands in quotation marks is somebody else's. Pure; linear in the text; any bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "eval/answer.h"

namespace stoka::eval {

// Stands for code or a quotation that was taken out; a word by itself.
inline constexpr std::string_view kTakenOut = "\xEF\xBF\xBC";  // U+FFFC

struct Token {
  std::string word;   // folded, without apostrophes; "hi-fi", "v2.1" and "snake_case" are one
  std::string loose;  // with runs of a letter as one letter, if three stand together; else empty
  std::string raw;    // as written
  char32_t sign = 0;  // the last sign before it; 0: only white space
  bool line = false;  // it begins a line
};

struct Sentence {
  std::vector<Token> tokens;
  bool asks = false;  // ends in a question mark
};

// Runs of a character as one.
std::string without_runs(std::string_view word);

// What is in backticks, or fenced.
std::vector<std::string_view> code_in(std::string_view text);
std::string without_code(std::string_view text);

// What stands in double quotation marks.
std::vector<std::string_view> quotations(std::string_view text);

// Quotation marks of any kind, but not those around the whole text.
std::string without_quotations(std::string_view text);

std::vector<Token> tokens(std::string_view text);

// Those that hold a word.
std::vector<Sentence> sentences_of(std::string_view text);

// What the voice itself says: without code and quotations.
std::vector<Sentence> spoken(const Answer& answer);

}  // namespace stoka::eval
