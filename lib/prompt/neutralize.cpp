// Makes untrusted text harmless within a prompt, see prompt.h.
#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "prompt/prompt.h"
#include "text/entities.h"

namespace stoka::prompt {
namespace {

// Words that mark a turn of a conversation at the start of a line, if a colon follows.
constexpr std::array<std::string_view, 6> kSpeakers = {"visitor",   "stoka",  "user",
                                                       "assistant", "system", "human"};
// Characters of markdown that may surround such a word without changing its meaning to a reader.
constexpr std::string_view kDecoration = " \t>*_#-";

size_t skip(std::string_view line, size_t at, std::string_view characters) {
  return std::min(line.find_first_not_of(characters, at), line.size());
}

// Returns the offset of the colon of a turn marker ("visitor:", "  **System** :") at the start of
// the line, or 0 if the line has none.
size_t turn_marker(std::string_view line) {
  size_t at = skip(line, 0, kDecoration);
  for (std::string_view word : kSpeakers) {
    std::string_view rest = line.substr(at);
    if (to_lower(rest.substr(0, word.size())) != word) continue;
    size_t colon = skip(line, at + word.size(), kDecoration);
    return colon < line.size() && line[colon] == ':' ? colon : 0;
  }
  return 0;
}

void append_line(std::string& out, std::string_view line) {
  size_t colon = turn_marker(line);
  // A line in brackets opens a layer, so its bracket is escaped.
  size_t bracket = skip(line, 0, kDecoration);
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
