// Helpers to make and to read terminal output.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "terminal/style.h"

namespace stoka::testing {

inline terminal::Capabilities terminal_of_width(int columns) {
  terminal::Capabilities out;
  out.tty = true;
  out.columns = columns;
  return out;
}

// Removes escape sequences.
inline std::string without_escapes(std::string_view drawn) {
  std::string out;
  for (size_t at = 0; at < drawn.size(); ++at) {
    if (drawn[at] != '\x1b') {
      out += drawn[at];
    } else if (at + 1 < drawn.size() && drawn[at + 1] == ']') {
      at = drawn.find("\x1b\\", at + 2) + 1;
    } else {
      at = drawn.find_first_of("mKJhl", at);
    }
  }
  return out;
}

inline std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> out(1);
  for (const char c : text) {
    if (c == '\n') {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
}

}  // namespace stoka::testing
