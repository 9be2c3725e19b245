// Removes the reasoning that a server leaves in the text before the answer: one or more blocks
// <think>…</think>, <thinking>…</thinking> or <thought>…</thought> in any case.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stoka::generate {

// The position after the last closing tag in a complete text, or 0 if there is none. Unlike the
// filter, this also finds reasoning whose opening tag was in the prompt.
size_t reasoning_end(std::string_view text);

// Takes text in pieces of any size and keeps back only what may be part of a tag. White space
// before the answer is removed. A closing tag without an opening tag is removed, too: its opening
// tag was in the prompt, and the reasoning before it has already been passed on. Not thread safe.
class ThinkFilter {
 public:
  std::string push(std::string_view text);  // returns text of the answer; may be empty
  std::string finish();  // returns the remaining text; call it once, after the last push()

  size_t reasoning_bytes() const { return reasoning_bytes_; }  // bytes that were removed
  bool stray_tag() const { return stray_tag_; }  // whether a closing tag lacked its opening one

 private:
  enum class Position { before, block, answer };

  Position position_ = Position::before;
  std::string pending_;
  size_t reasoning_bytes_ = 0;
  bool stray_tag_ = false;
};

}  // namespace stoka::generate
