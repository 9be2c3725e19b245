// Fenced code blocks in markdown: their fences and their info strings.
#pragma once

#include <cstddef>
#include <string_view>

namespace stoka::ingest {

// The fence that a line opens or closes.
struct CodeFence {
  char character = 0;     // the character of the fence, '`' or '~'
  size_t length = 0;      // the length of the fence; 0 if the line is not a fence
  std::string_view info;  // the trimmed info string: "sh", "env secret"

  bool closes(const CodeFence& open) const {
    return character == open.character && length >= open.length && info.empty();
  }
};
CodeFence parse_code_fence(std::string_view line);

// Whether an info string says that its code must not be published: "env secret", "{.secret}",
// "js {secret: true}", "sh secret=true". False for "sh secret=false" and for the word "secret" in a
// quoted title.
bool is_marked_secret(std::string_view info);

}  // namespace stoka::ingest
