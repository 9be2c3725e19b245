// Draws the events of one answer as they come.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "model/event.h"
#include "terminal/style.h"

namespace stoka::terminal {

// Takes bytes for the screen. Whoever provides it also flushes.
using Write = std::function<void(std::string_view)>;

// One answer, one thread. On a terminal text is wrapped at words (between wide characters too, and
// inside a word only when the word alone is too long); elsewhere lines are as long as they are. A
// word is held until what follows it is known, so the screen depends on the text alone and not on
// how it was cut into tokens, not even inside a UTF-8 sequence. Line breaks stay, but no more than
// one blank line; other white space is one space. A citation stands apart by a blank line.
class AnswerPrinter {
 public:
  // Citations are numbered from `first_citation`; with 0 they have no number, and on a terminal
  // their addresses below them.
  AnswerPrinter(Write out, Capabilities capabilities, size_t first_citation = 0);

  // On a terminal a dim sign that an answer is being made, which its first word wipes out. Before
  // any event; nothing elsewhere.
  void wait();

  // Done and error events finish the answer; what comes after is not drawn. An error is drawn in
  // place, in red, with a next step. A caller that wants it elsewhere calls finish() instead.
  void handle(const Event& event);

  // Writes what is held and the closing line break, once; nothing at all for an empty answer.
  void finish();

  // The same for an answer that broke off: what was written of it is marked.
  void cut_off();

  // The terminal was resized: lines drawn from now on are this long.
  void set_columns(int columns) { capabilities_.columns = columns; }

 private:
  void take(std::string_view text);
  void take_code_point(std::string_view bytes);
  void place_word();
  void block(std::string_view text);
  void start_line_if_due();
  void wipe();
  size_t width() const;

  Write out_;
  Capabilities capabilities_;
  size_t citation_;    // number of the next one; 0: none has one
  std::string bytes_;  // the start of a UTF-8 sequence whose end has not come
  std::string word_;
  char32_t last_ = 0;       // last code point of word_
  bool last_wide_ = false;  // last character of word_ that takes columns is a wide one
  bool space_ = false;      // between what is drawn and word_
  int breaks_ = 0;          // line breaks due before the next text, at most two
  size_t column_ = 0;       // of the cursor
  bool waiting_ = false;
  bool started_ = false;
  bool finished_ = false;
};

// "error: MESSAGE" in red, and the hint indented below it. Lines joined by '\n', none at the end.
std::string error_text(const Error& error, const Capabilities& capabilities);

// {"event":"token","data":{…}}: one line without its line break.
std::string json_line(const Event& event);
// {"error":{"kind":…,"message":…,"hint":…}}
std::string json_line(const Error& error);

}  // namespace stoka::terminal
