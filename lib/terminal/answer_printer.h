// Prints the events of one answer as they arrive.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "model/event.h"
#include "terminal/style.h"

namespace stoka::terminal {

// Receives bytes for the screen. The given function must also flush them.
using TextSink = std::function<void(std::string_view)>;

// Prints one answer; all calls come from one thread. On a terminal, text is wrapped between words,
// between wide characters, and inside a word only if the word alone exceeds the line; elsewhere
// lines are not wrapped. A word is held back until the character after it is known. The output
// therefore depends only on the text, not on where it was split into tokens, even inside a UTF-8
// sequence. Line breaks are kept, with at most one blank line in a row; other white space becomes
// one space. A blank line separates a citation from the text around it.
class AnswerPrinter {
 public:
  // Citations are numbered from `first_citation`. With 0 they are not numbered, and on a terminal
  // the address of each citation is printed below it.
  AnswerPrinter(TextSink out, Capabilities capabilities, size_t first_citation = 0);

  // On a terminal, shows a dim ellipsis until the first word of the answer replaces it. Must be
  // called before the first event. Does nothing elsewhere.
  void show_waiting();

  // A done or error event finishes the answer; later events are ignored. An error is printed in
  // red, with a next step. A caller that reports errors elsewhere calls cut_off() instead.
  void handle(const Event& event);

  // Writes the held text and a final line break. Writes nothing for an empty answer. Only the
  // first call has an effect.
  void finish();

  // Like finish(), for an answer that ended early: the text shown so far is marked "[cut off]".
  void cut_off();

  // Sets the line width for the following text, after the terminal was resized.
  void set_columns(int columns) { capabilities_.columns = columns; }

 private:
  void append(std::string_view text);
  void append_code_point(std::string_view bytes);
  void write_word();
  void write_block(std::string_view text);
  void write_line_breaks();
  void clear_waiting();
  size_t width() const;

  TextSink out_;
  Capabilities capabilities_;
  size_t citation_;         // number of the next citation; 0 if citations are not numbered
  std::string bytes_;       // the start of an incomplete UTF-8 sequence
  std::string word_;        // text that is held back
  char32_t last_ = 0;       // the last code point of word_
  bool last_wide_ = false;  // whether the last visible character of word_ takes two columns
  bool space_ = false;      // whether a space precedes word_
  int breaks_ = 0;          // line breaks (at most two) to write before the next text
  size_t column_ = 0;       // the column of the cursor
  bool waiting_ = false;
  bool started_ = false;
  bool finished_ = false;
};

// Prints "error: MESSAGE" in red, and the hint indented below it. There is no final line break.
std::string error_text(const Error& error, const Capabilities& capabilities);

// An event as {"event":"token","data":{…}}, without a line break.
std::string json_line(const Event& event);
// An error as {"error":{"kind":…,"message":…,"hint":…}}.
std::string json_line(const Error& error);

}  // namespace stoka::terminal
