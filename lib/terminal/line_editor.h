// Reads the lines that a person types.
#pragma once

#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stoka::terminal {

struct Line {
  enum class Kind {
    entered,
    interrupted,  // the person pressed Ctrl-C; `text` is the unfinished line
    end,          // the person pressed Ctrl-D on an empty line, or the input has ended
  };
  Kind kind = Kind::entered;
  std::string text;  // the line as valid UTF-8, without a line break
};

// Returns the possible completions of the text before the cursor, in order.
using Completer = std::function<std::vector<std::string>(std::string_view)>;

// An editor of lines. All calls must come from one thread.
class LineEditor {
 public:
  virtual ~LineEditor() = default;

  // Shows the prompt and waits for a line. `prompt` may contain SGR sequences and must end in a
  // visible character or a space. Fails if the input cannot be read.
  virtual Result<Line> read(const std::string& prompt) = 0;

  // Adds a line to the history, and to the history file if there is one. If writing the file
  // fails, the line is still in the history of this run.
  virtual Result<> add_history(std::string_view line) = 0;

  // Sets the completer for Tab; an empty function turns completion off.
  virtual void set_completer(Completer completer) = 0;
};

struct LineEditorOptions {
  std::FILE* in = stdin;
  std::FILE* out = stdout;
  bool editing = false;  // true if input and output are a terminal that can move its cursor
  std::filesystem::path history;  // the history file; empty to keep the history for this run only
};

// With `editing`, returns libedit in emacs mode (UTF-8 if the program has called setlocale):
// history by arrow keys and Ctrl-R, Tab completion, pasted lines joined into one, a redraw after a
// resize, Ctrl-Z. Otherwise, or if libedit does not start, returns an editor without editing and
// history, which reports Ctrl-C only while an Interrupt exists. If the history file cannot be read,
// the history starts empty.
std::unique_ptr<LineEditor> make_line_editor(const LineEditorOptions& options);

// Returns the editor of libedit; null if libedit does not start on this terminal. At most one may
// exist in a process, because the editor handles SIGWINCH while a line is read.
std::unique_ptr<LineEditor> make_libedit_editor(const LineEditorOptions& options);

}  // namespace stoka::terminal
