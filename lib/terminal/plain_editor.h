// Lines without editing, for TERM=dumb and input that is not a terminal.
#pragma once

#include <cstdio>
#include <string>

#include "terminal/line_editor.h"

namespace stoka::terminal {

// Reads the descriptor below `in` directly, so that a signal interrupts it: nothing else may read
// from `in`. Lines above 1 MiB are an error.
class PlainEditor final : public LineEditor {
 public:
  PlainEditor(std::FILE* in, std::FILE* out) : in_(in), out_(out) {}
  Result<Line> read(const std::string& prompt) override;
  Result<> add_history(std::string_view) override { return {}; }
  void set_completer(Completer) override {}

 private:
  std::FILE* in_;
  std::FILE* out_;
  std::string buffer_;
};

}  // namespace stoka::terminal
