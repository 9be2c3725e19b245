#include "ingest/plain_text.h"

#include <set>
#include <string>

#include "base/ascii.h"
#include "ingest/code_fence.h"
#include "text/normalize.h"

namespace stoka::ingest {

namespace {

// The fences below the current line that could close a fence opened on it. Knowing them in advance
// keeps the parser linear.
class ClosingFences {
 public:
  explicit ClosingFences(std::string_view text) {
    while (!text.empty()) {
      const CodeFence fence = parse_code_fence(take_line(text));
      if (fence.length > 0 && fence.info.empty()) lengths_of(fence).insert(fence.length);
    }
  }

  // Removes a fence that is no longer ahead of the current line.
  void remove(const CodeFence& fence) {
    if (fence.length == 0 || !fence.info.empty()) return;
    std::multiset<size_t>& lengths = lengths_of(fence);
    lengths.erase(lengths.find(fence.length));
  }

  bool contains_end_of(const CodeFence& open) {
    const std::multiset<size_t>& lengths = lengths_of(open);
    return !lengths.empty() && *lengths.rbegin() >= open.length;
  }

 private:
  std::multiset<size_t>& lengths_of(const CodeFence& fence) {
    return lengths_[fence.character == '~'];
  }

  std::multiset<size_t> lengths_[2];  // the lengths of ``` fences and of ~~~ fences
};

}  // namespace

PlainText parse_plain_text(std::string_view text) {
  PlainText out;
  CodeFence open;     // the fence of the current code block; its length is 0 outside of code
  std::string block;  // the current paragraph or code block
  const auto finish = [&] {
    const bool code = open.length > 0;
    if (!code) block = text::collapse_whitespace(block);
    while (block.ends_with('\n')) block.pop_back();
    if (code && is_marked_secret(open.info)) {
      ++out.secret_code;
    } else if (!block.empty()) {
      out.blocks.push_back({code ? BlockKind::code : BlockKind::paragraph, 0, std::move(block)});
    }
    block.clear();
    open = {};
  };
  ClosingFences below(text);
  const auto opens = [&](const CodeFence& fence) {
    if (fence.length == 0) return false;
    if (is_marked_secret(fence.info)) return true;
    // A line of tildes below text may be an underlined heading.
    const bool underlines = fence.character == '~' && fence.info.empty() && !block.empty();
    return !underlines && below.contains_end_of(fence);
  };
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const CodeFence fence = parse_code_fence(line);
    below.remove(fence);
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
