// Choosing the sentence of a text that makes the best pull quote. Pure, thread safe.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace stoka::text {

// The maximum length of a quote, in code points. best_sentence() cuts a longer sentence with
// clip().
inline constexpr size_t kMaxQuoteLength = 300;

// Returns the sentence of `content` to quote in answer to `query`, with white space collapsed, so
// that it is a substring of collapse_whitespace(content). Sentences score points for content words
// that they share with the query and for being complete: 8 to 30 words, no word at the start that
// refers to the sentence before ("This …", "But …"), a full stop at the end, neither a heading nor
// the announcement of a list. A sentence right before code also shares the words of that code, and
// may end in a colon. The points are set so that a question is chosen only if there is no
// statement; a table row, a link or what looks like code only if there is no question either; then
// an exclamation or emoji, and last a sentence with U+FFFD. The first of equal sentences wins. A
// line of code (text/code_lines.h) and text that is not is_quotable() are never chosen; the result
// is empty if there is nothing else. Takes time linear in the length of the content.
std::string best_sentence(std::string_view content, std::string_view query);

// Chooses among all parts of a document, of which retrieval found `content`. A sentence of another
// part wins only if it is clearly better.
std::string best_sentence(std::string_view content, std::span<const std::string> document,
                          std::string_view query);

// Returns false for text with the two characters "\\n", which mark code whose line breaks were
// lost.
bool is_quotable(std::string_view text);

// Cuts the text to at most `length` code points: after the last clause that ends in the second half
// of that length, else after a word.
std::string_view clip(std::string_view text, size_t length);

}  // namespace stoka::text
