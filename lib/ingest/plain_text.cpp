#include "ingest/plain_text.h"

#include <set>
#include <string>

#include "base/ascii.h"
#include "base/lines.h"
#include "ingest/fence.h"
#include "text/normalize.h"

namespace stoka::ingest {

namespace {

// The fences below the line that is read, which could close one that is opened there.
class ClosingFences {
 public:
  explicit ClosingFences(std::string_view text) {
    while (!text.empty()) {
      const Fence fence = fence_of(stoka::take_line(text));
      if (fence.length > 0 && fence.info.empty()) lengths_of(fence).insert(fence.length);
    }
  }

  void pass(const Fence& fence) {
    if (fence.length == 0 || !fence.info.empty()) return;
    std::multiset<size_t>& lengths = lengths_of(fence);
    lengths.erase(lengths.find(fence.length));
  }

  bool close(const Fence& open) {
    const std::multiset<size_t>& lengths = lengths_of(open);
    return !lengths.empty() && *lengths.rbegin() >= open.length;
  }

 private:
  std::multiset<size_t>& lengths_of(const Fence& fence) { return lengths_[fence.mark == '~']; }

  std::multiset<size_t> lengths_[2];  // of ``` and of ~~~
};

}  // namespace

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
  ClosingFences below(text);
  const auto opens = [&](const Fence& fence) {
    if (fence.length == 0) return false;
    if (marks_secret(fence.info)) return true;
    // A line of tildes below words underlines them.
    const bool underlines = fence.mark == '~' && fence.info.empty() && !block.empty();
    return !underlines && below.close(fence);
  };
  while (!text.empty()) {
    const std::string_view line = stoka::take_line(text);
    const Fence fence = fence_of(line);
    below.pass(fence);
    if (open.length > 0 ? fence.closes(open) : trimmed(line).empty()) {
      finish();
    } else if (open.length == 0 && opens(fence)) {
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
