// The interactive conversation: reads questions and commands, and prints answers.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/event.h"
#include "pipeline/chat_backend.h"
#include "terminal/answer_printer.h"
#include "terminal/interrupt.h"
#include "terminal/line_editor.h"
#include "terminal/style.h"

namespace stoka::terminal {

struct ReplOptions {
  Capabilities capabilities;
  std::string hint = {};         // the line shown at the start; may be empty
  std::function<int()> columns;  // gives the current width; if empty, capabilities.columns is used
  bool json = false;             // start with JSON event lines, as after /json
  int input = -1;                // the terminal whose echo is off while an answer is printed
};

// Reads and answers lines until Ctrl-D, /quit, "exit" or "quit". Prints no greeting. Ctrl-C stops
// the current answer and never ends the program. All calls must come from one thread, and all
// arguments of the constructor must outlive the Repl.
class Repl {
 public:
  Repl(pipeline::ChatBackend& backend, LineEditor& editor, Interrupt& interrupt, TextSink out,
       ReplOptions options);

  // Fails only if the input cannot be read. Errors of answers are printed.
  Result<> run();

  // Completions of the text before the cursor: commands, and pages after "/page ".
  std::vector<std::string> complete(std::string_view before) const;

 private:
  struct Command;
  static const std::vector<Command>& commands();

  bool run_command(std::string_view line);  // returns false if the conversation should end
  void answer(const std::string& query);
  void show_help();
  void start_session();
  void show_session();
  void show_or_set_page(std::string_view url);
  void show_shown_slugs();
  void show_citations();
  void show_address(std::string_view number);
  void explain_answer();
  void toggle_json();

  Capabilities current_capabilities() const;  // the capabilities with the current width
  void print_line(std::string_view line, Style style);
  void print_line(std::string_view line);
  void print_error(const Error& error);

  pipeline::ChatBackend& backend_;
  LineEditor& editor_;
  Interrupt& interrupt_;
  TextSink out_;
  ReplOptions options_;
  bool json_;
  Session session_;
  std::string page_;                 // the page that the visitor is on; may be empty
  std::string why_;                  // the explanation of the last answer
  std::vector<Citation> citations_;  // all citations shown so far; /open N is citations_[N - 1]
};

}  // namespace stoka::terminal
