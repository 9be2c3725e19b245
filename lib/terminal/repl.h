// The conversation on a terminal.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/event.h"
#include "terminal/answer_printer.h"
#include "terminal/conversation.h"
#include "terminal/interrupt.h"
#include "terminal/line_editor.h"
#include "terminal/style.h"

namespace stoka::terminal {

struct ReplOptions {
  Capabilities capabilities;
  std::function<int()> columns;  // of the terminal now; empty: capabilities.columns for good
  bool json = false;             // as if /json had been typed
  int input = -1;                // the terminal that does not show typing while an answer is drawn
};

// Reads a line, answers it, until Ctrl-D, /quit or a bare "exit" or "quit". No greeting. Ctrl-C
// stops the answer under way and never the program. One thread; everything given must outlive it.
class Repl {
 public:
  Repl(Conversation& conversation, LineEditor& editor, Interrupt& interrupt, Write out,
       ReplOptions options);

  // Fails only when the input or the screen does; errors of answers are shown.
  Result<> run();

  // What Tab offers for the text before the cursor: commands, and pages after "/page ".
  std::vector<std::string> complete(std::string_view before) const;

 private:
  struct Command;
  static const std::vector<Command>& commands();

  bool command(std::string_view line);  // false: leave
  void answer(const std::string& query);
  void help();
  void start_session();
  void show_session();
  void page(std::string_view url);
  void seen();
  void cites();
  void open(std::string_view number);
  void why();
  void toggle_json();

  Capabilities now() const;
  void say(std::string_view line, Look look);
  void say(std::string_view line);
  void show(const Error& error);

  Conversation& conversation_;
  LineEditor& editor_;
  Interrupt& interrupt_;
  Write out_;
  ReplOptions options_;
  bool json_;
  std::vector<Citation> citations_;  // of this session, as shown; /open counts from 1
};

}  // namespace stoka::terminal
