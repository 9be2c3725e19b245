// Line editing on a terminal, by libedit.
#pragma once

#include <memory>

#include "terminal/line_editor.h"

namespace stoka::terminal {

// The contract is make_line_editor's. One at a time in a process: while a line is read it watches
// SIGWINCH. Null if libedit does not start on this terminal.
std::unique_ptr<LineEditor> make_libedit_editor(const LineEditorOptions& options);

}  // namespace stoka::terminal
