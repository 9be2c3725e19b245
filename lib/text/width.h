// Measuring and wrapping text in columns of a terminal. Pure, thread safe, independent of the
// locale.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace stoka::text {

// The number of columns that the text takes. A wide character takes two; combining marks and
// control characters take none.
size_t display_width(std::string_view text);

// Returns the longest prefix of whole grapheme clusters that fits in `columns`. If something was
// cut, an ellipsis takes the last column.
std::string truncate_to_width(std::string_view text, size_t columns);

// Wraps the text into lines of at most `columns`. Lines break at spaces and between wide
// characters, and inside a word only if the word alone is too long. Line breaks in the text stay.
// The result has at least one line.
std::vector<std::string> wrap(std::string_view text, size_t columns);

}  // namespace stoka::text
