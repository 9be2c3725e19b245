// Folding for matching, and cleaning of what people and models send.
#pragma once

#include <string>
#include <string_view>

namespace stoka::text {

// For matching only: NFKC, case folded, zero-width, control, bidi and tag characters removed,
// typographic quotes and dashes to ASCII, runs of white space to one space, trimmed.
std::string fold(std::string_view text);

// For showing and storing a visitor's words: control characters (but for a space in their place),
// zero-width, bidi controls and tag characters (U+E0000 block) removed; NFC; trimmed. Zero-width
// joiners inside emoji and scripts that need them stay. Empty when nothing visible is left.
std::string clean_query(std::string_view text);

// One line fit for a terminal or a log: C0, DEL and C1 controls become spaces (line breaks and tabs
// too), invalid UTF-8 becomes U+FFFD.
std::string one_line(std::string_view text);

// Runs of white space to one space, trimmed. Nothing else changes.
std::string squeeze(std::string_view text);

// Number of code points.
size_t length(std::string_view text);

}  // namespace stoka::text
