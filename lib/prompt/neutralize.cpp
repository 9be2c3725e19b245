// Making untrusted text harmless inside the prompt's own markup.
#include <algorithm>
#include <array>
#include <cctype>

#include "prompt/prompt.h"
#include "text/markup.h"

namespace stoka::prompt {
namespace {

// Words that start a turn or a layer when they stand at the head of a line.
constexpr std::array<std::string_view, 6> kTurnWords = {"visitor",   "stoka",  "user",
                                                        "assistant", "system", "human"};
// What markdown may put before and after them without changing how they read.
constexpr std::string_view kDressing = " \t>*_#-";

size_t skip(std::string_view line, size_t at, std::string_view characters) {
  return std::min(line.find_first_not_of(characters, at), line.size());
}

// The offset of the colon of a turn marker ("visitor:", "  **System** :") at the head of `line`,
// else 0.
size_t turn_marker(std::string_view line) {
  size_t at = skip(line, 0, kDressing);
  for (std::string_view word : kTurnWords) {
    std::string_view rest = line.substr(at);
    bool same = rest.size() > word.size() &&
                std::equal(word.begin(), word.end(), rest.begin(), [](char a, char b) {
                  return a == std::tolower(static_cast<unsigned char>(b));
                });
    if (!same) continue;
    size_t colon = skip(line, at + word.size(), kDressing);
    return colon < line.size() && line[colon] == ':' ? colon : 0;
  }
  return 0;
}

void append_line(std::string& out, std::string_view line) {
  size_t colon = turn_marker(line);
  // A bracketed line is how layers open.
  size_t bracket = skip(line, 0, kDressing);
  for (size_t i = 0; i < line.size(); ++i) {
    if (i == bracket && line[i] == '[') out += '\\';
    if (i == colon && colon > 0)
      out += " -";
    else
      text::append_escaped(out, line[i]);
  }
}

}  // namespace

std::string neutralize(std::string_view untrusted) {
  std::string out;
  out.reserve(untrusted.size() + untrusted.size() / 16);
  while (!untrusted.empty()) {
    size_t end = std::min(untrusted.find('\n'), untrusted.size());
    append_line(out, untrusted.substr(0, end));
    if (end < untrusted.size()) out += '\n';
    untrusted.remove_prefix(std::min(end + 1, untrusted.size()));
  }
  return out;
}

}  // namespace stoka::prompt
