// A progress bar on stderr.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "terminal/answer_printer.h"
#include "terminal/style.h"

namespace stoka::terminal {

// One line that is redrawn in place when its text changes, at most ten times a second by the given
// clock, and is removed at the end. Writes nothing if the output is not a terminal. All calls must
// come from one thread.
class Progress {
 public:
  // The clock must outlive the object. `capabilities` are those of the stream that `out` writes to.
  Progress(TextSink out, Capabilities capabilities, const Clock& clock);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Shows the progress. If `total` is 0, it is unknown and only `done` is shown. The label names
  // the current step and is truncated to the remaining width.
  void update(uint64_t done, uint64_t total, std::string_view label);

  // Removes the progress line, so that other text can be printed. The next update draws it again.
  void clear();

 private:
  TextSink out_;
  Capabilities capabilities_;
  const Clock& clock_;
  std::optional<std::chrono::nanoseconds> drawn_at_;
  std::string drawn_;  // the line on the screen; may be empty
};

}  // namespace stoka::terminal
