// Finds lines of code in the content of a chunk. All other content is plain text. Thread safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stoka::text {

// Every line of code begins with this indent. No line of prose does, because its white space is
// collapsed.
inline constexpr std::string_view kCodeIndent = "    ";

// A segment: consecutive lines that are all code or all prose.
struct Segment {
  std::string_view text;  // the lines, without line breaks at the end
  bool is_code = false;
};

// Splits the content into segments of code and prose, in order. Segments without a visible
// character are left out. The segments refer to `content`.
std::vector<Segment> split_code(std::string_view content);

// Returns the prose only, with a blank line in place of each block of code.
std::string without_code(std::string_view content);

}  // namespace stoka::text
