// The fences of code in markdown.
#pragma once

#include <cstddef>
#include <string_view>

namespace stoka::ingest {

// The fence that a line opens or closes: its character and length; 0 if it is none.
struct Fence {
  char mark = 0;
  size_t length = 0;
  std::string_view info;  // what stands behind it, trimmed: "sh", "env secret"

  bool closes(const Fence& open) const {
    return mark == open.mark && length >= open.length && info.empty();
  }
};
Fence fence_of(std::string_view line);

// Whether an info string marks its code as not for readers: "env secret", "{.secret}",
// "js {secret: true}", "sh secret=true"; not "sh secret=false", nor the word in a quoted title.
bool marks_secret(std::string_view info);

}  // namespace stoka::ingest
