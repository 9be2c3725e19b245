// Extracts the tags of XML or HTML, which untrusted text must not change.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stoka::testing {

// All tags with the names of their attributes but without the values: `<a href="">`. Relies on
// quotes and angle brackets being escaped everywhere else.
inline std::vector<std::string> tags(std::string_view text) {
  std::vector<std::string> out;
  for (size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<', at)) {
    std::string& tag = out.emplace_back();
    bool quoted = false;
    for (; at < text.size() && (quoted || text[at] != '>'); ++at) {
      if (text[at] == '"') quoted = !quoted;
      if (!quoted) tag += text[at];
    }
    tag += '>';
  }
  return out;
}

}  // namespace stoka::testing
