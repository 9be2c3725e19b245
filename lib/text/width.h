// Columns on a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace stoka::text {

// Columns that text takes: grapheme clusters, wide characters as two, combining marks as none.
// Control characters count as none. Locale independent.
size_t display_width(std::string_view text);

// The longest prefix of whole grapheme clusters that fits in `columns`; with an ellipsis in the
// last column when something was cut.
std::string truncate_to_width(std::string_view text, size_t columns);

// Lines of at most `columns`, broken at spaces and between wide characters, and inside a word only
// when the word alone is too long. Line breaks in the text stay. Never an empty vector.
std::vector<std::string> wrap(std::string_view text, size_t columns);

}  // namespace stoka::text
