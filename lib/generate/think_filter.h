// Takes out of an answer what the model thought before it, where a server leaves that in the text:
// <think>…</think>, <thinking>…</thinking> or <thought>…</thought> in any case, one or more, before
// the first word.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stoka::generate {

// Where the answer begins in a text that is there whole: after the last closing tag; 0: there is
// none. Finds what the filter must let pass, a thought whose opening tag was in the prompt.
size_t thoughts_end(std::string_view text);

// Text in any split; only what may still be a tag is held back. White space before the answer is
// dropped. A closing tag without its block is dropped too: the opening one was in the prompt, and
// the thought before it has been passed on. Not thread safe.
class ThinkFilter {
 public:
  std::string push(std::string_view text);  // what is answer; may be empty
  std::string finish();                     // once, after the last push: the rest of it

  size_t thought() const { return thought_; }  // bytes taken out
  bool stray() const { return stray_; }        // there was a closing tag without its block

 private:
  enum class Where { before, block, answer };

  Where where_ = Where::before;
  std::string held_;
  size_t thought_ = 0;
  bool stray_ = false;
};

}  // namespace stoka::generate
