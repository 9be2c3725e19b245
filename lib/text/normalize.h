// Case folding for matching, and cleaning of untrusted text. Pure, thread safe. Invalid UTF-8
// becomes U+FFFD; only replace_controls() keeps it as it is.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stoka::text {

// Folds text, for matching only. Applies NFKC and case folding; removes zero-width, control, bidi
// and tag characters; replaces typographic quotes and dashes with ASCII; collapses white space and
// trims.
std::string fold(std::string_view text);

// Cleans the question of a visitor for display and storage. Control characters become spaces;
// zero-width, bidi and tag characters (block U+E0000) are removed, except for joiners inside emoji
// and in scripts that need them; then NFC is applied and the text is trimmed. The result is empty
// if nothing visible is left.
std::string clean_query(std::string_view text);

// One line that is safe for a terminal or a log: C0, DEL and C1 control characters, line breaks and
// tabs included, become spaces.
std::string one_line(std::string_view text);

// Replaces each character that can control a terminal or reorder the text around it: C0 except line
// feed and tab, DEL, C1, and the bidi embeddings, overrides and isolates (U+202A-202E,
// U+2066-2069). With an empty `replacement` they are removed, but vertical tab, form feed and next
// line (U+0085) become line feeds, so that words stay apart. Adds the number of such characters to
// *count.
std::string replace_controls(std::string_view text, std::string_view replacement = {},
                             size_t* count = nullptr);

// Replaces runs of white space with one space and trims. Nothing else changes.
std::string collapse_whitespace(std::string_view text);

// The number of code points of a text.
size_t count_code_points(std::string_view text);

}  // namespace stoka::text
