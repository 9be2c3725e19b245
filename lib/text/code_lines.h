// Code inside the content of a chunk, which is plain text otherwise.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stoka::text {

// A line of code begins with this. No line of prose does: its white space is squeezed.
inline constexpr std::string_view kCodeIndent = "    ";

struct Stretch {
  std::string_view text;  // without line breaks at its end
  bool code = false;
};

// The content as consecutive lines that are all code or all prose. Stretches without a visible
// character are left out.
std::vector<Stretch> split_code(std::string_view content);

// The content without its code; a blank line stands where code was.
std::string without_code(std::string_view content);

}  // namespace stoka::text
