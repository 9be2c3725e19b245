// Characters that steer a terminal or reorder what is shown around them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stoka::text {

// The text with `in_place` for each control character: C0 but for line feed and tab, DEL, C1, and
// the bidi embeddings, overrides and isolates (U+202A-202E, U+2066-2069). With an empty `in_place`
// they are removed, but vertical tab, form feed and next line (U+0085) become line feeds, so that
// words stay apart. Adds how many there were to *found. Pure, thread safe.
std::string without_controls(std::string_view text, std::string_view in_place = {},
                             size_t* found = nullptr);

}  // namespace stoka::text
