// Splitting text into sentences. Pure, thread safe.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace stoka::text {

// A range of bytes in a text.
struct Span {
  size_t begin = 0;
  size_t end = 0;
  std::string_view in(std::string_view text) const { return text.substr(begin, end - begin); }
};

// Returns the sentences of a text in order, without white space at their ends. The full stop of an
// abbreviation ("e.g.", "Mr."), of a number or version ("v2.1", "3.4.10") or of an ellipsis before
// lower case does not end a sentence; closing quotes and brackets after the stop belong to it; CJK
// stops and blank lines end one.
std::vector<Span> sentences(std::string_view text);

// Returns how many of the sentences(text) contain a word.
size_t count_sentences(std::string_view text);

}  // namespace stoka::text
