// Which sentence of a text stands best by itself, as a quotation.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace stoka::text {

// Above this a quotation is cut; see best_sentence() and clip().
inline constexpr size_t kMaxQuoteLength = 300;  // code points

// The sentence of `content` to quote in answer to `query`, white space squeezed: a substring of
// squeeze(content). Prefers what shares most content words with the query and is complete: 8 to 30
// words, does not lean on the sentence before it ("This …", "But …"), ends in a full stop, no
// heading and no line that announces a list. A sentence right before code shares the words of that
// code too, and may end in a colon. A question only when there is no statement; a table row, a link
// or what looks like code only when there is no question; an exclamation or emoji after those, one
// with U+FFFD in it last of all. The first of equals. Never a line of code (text/code_lines.h) and
// never what is not is_quotable(): empty if there is nothing else. Linear in the content.
std::string best_sentence(std::string_view content, std::string_view query);

// The same over a whole document of which `content` is the part that was found: a sentence
// elsewhere wins only if it is clearly better.
std::string best_sentence(std::string_view content, std::span<const std::string> document,
                          std::string_view query);

// False for text with a line break that is spelled out ("\\n"), as in flattened code.
bool is_quotable(std::string_view text);

// The text without what is over `length` code points, cut after a clause if one ends in its second
// half, else after a word.
std::string_view clip(std::string_view text, size_t length);

}  // namespace stoka::text
