#include "ingest/plain_text.h"

#include <algorithm>
#include <string>

#include "base/ascii.h"
#include "ingest/fence.h"
#include "text/normalize.h"

namespace stoka::ingest {

PlainText plain_blocks(std::string_view text) {
  PlainText out;
  Fence open;         // of the code that is read; length 0 outside of code
  std::string block;  // what is read: a paragraph or code
  const auto finish = [&] {
    const bool code = open.length > 0;
    if (!code) block = text::squeeze(block);
    while (block.ends_with('\n')) block.pop_back();
    if (code && marks_secret(open.info)) {
      ++out.secret_code;
    } else if (!block.empty()) {
      out.blocks.push_back({code ? BlockKind::code : BlockKind::paragraph, 0, std::move(block)});
    }
    block.clear();
    open = {};
  };
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    const Fence fence = fence_of(line);
    if (open.length > 0 ? fence.closes(open) : trimmed(line).empty()) {
      finish();
    } else if (open.length == 0 && fence.length > 0) {
      finish();
      open = fence;
    } else {
      block.append(line).append("\n");
    }
  }
  finish();
  return out;
}

}  // namespace stoka::ingest
