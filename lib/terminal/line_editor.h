// Where a person's lines come from.
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
    interrupted,  // Ctrl-C; text is what stood there
    end,          // Ctrl-D on an empty line, or the end of the input
  };
  Kind kind = Kind::entered;
  std::string text;  // valid UTF-8, one line, without its line break
};

// The lines that the text before the cursor could become, in order.
using Completer = std::function<std::vector<std::string>(std::string_view)>;

// One thread.
class LineEditor {
 public:
  virtual ~LineEditor() = default;

  // Shows the prompt and waits for a line. `prompt` may be painted (SGR sequences only) and must
  // end in something visible or a space. Fails when the input breaks.
  virtual Result<Line> read(const std::string& prompt) = 0;

  // Remembers a line for the arrow keys, and in the history file if there is one. A failure
  // concerns the file alone.
  virtual Result<> add_history(std::string_view line) = 0;

  // What Tab offers from now on; an empty function: nothing.
  virtual void set_completer(Completer completer) = 0;
};

struct LineEditorOptions {
  std::FILE* in = stdin;
  std::FILE* out = stdout;
  bool editing = false;           // both are a terminal that can move its cursor
  std::filesystem::path history;  // empty: kept for this run only
};

// With editing: libedit in its emacs mode (UTF-8 if the app has called setlocale), history by the
// arrow keys and Ctrl-R, Tab completion, a paste of several lines as one line, redrawn when the
// terminal is resized, Ctrl-Z. Without: one line at a time as it comes, no history; there Ctrl-C
// is noticed only while an Interrupt exists. A history file that cannot be read starts empty.
std::unique_ptr<LineEditor> make_line_editor(const LineEditorOptions& options);

}  // namespace stoka::terminal
