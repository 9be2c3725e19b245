#include "terminal/line_editor.h"

#include "terminal/libedit_editor.h"
#include "terminal/plain_editor.h"

namespace stoka::terminal {

std::unique_ptr<LineEditor> make_line_editor(const LineEditorOptions& options) {
  if (options.editing) {
    if (auto editor = make_libedit_editor(options)) return editor;
  }
  return std::make_unique<PlainEditor>(options.in, options.out);
}

}  // namespace stoka::terminal
