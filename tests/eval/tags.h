// The tags of XML or HTML as text: what hostile text must not change.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stoka::eval {

// Each with the names of its attributes and without their values: `<a href="">`. As far as the
// escaping is sound, a quote or an angle bracket stands nowhere else.
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

}  // namespace stoka::eval
