// How far a long piece of work is, on stderr.
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

// One line, redrawn in place when it says something else, at most ten times a second by the clock
// given, and removed at the end.
// Where there is no terminal it writes nothing at all. One thread.
class Progress {
 public:
  // The clock must outlive it. `capabilities` are those of the stream that `out` writes to.
  Progress(Write out, Capabilities capabilities, const Clock& clock);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // total 0: unknown, only the count is shown. The label says what is worked on; it is cut to the
  // room that is left.
  void update(uint64_t done, uint64_t total, std::string_view label);

  // Removes the line, so that something else can be printed; the next update draws it again.
  void clear();

 private:
  Write out_;
  Capabilities capabilities_;
  const Clock& clock_;
  std::optional<std::chrono::nanoseconds> drawn_at_;
  std::string drawn_;  // what stands there; empty: nothing
};

}  // namespace stoka::terminal
