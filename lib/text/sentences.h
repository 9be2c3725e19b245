#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace stoka::text {

struct Span {
  size_t begin = 0;
  size_t end = 0;
  std::string_view in(std::string_view text) const { return text.substr(begin, end - begin); }
};

// Sentences as byte spans, trimmed of white space, in order. Knows abbreviations ("e.g.", "Mr."),
// numbers and versions ("v2.1", "3.4.10"), ellipses, closing quotes and brackets after the stop,
// CJK stops, and that a blank line ends a sentence.
std::vector<Span> sentences(std::string_view text);

// How many sentences a reader would count: the same rules.
size_t count_sentences(std::string_view text);

}  // namespace stoka::text
