// Ctrl-C, a closed output and, for a command that has to clean up after itself, SIGTERM as a stop.
#pragma once

#include <memory>
#include <stop_token>

#include "base/result.h"

namespace stoka::terminal {

// What stops the work besides SIGINT.
struct StopOn {
  // A pipe or socket whose reader is watched; -1: none. Other kinds of files are never closed by a
  // reader.
  int output = -1;
  bool sigterm = false;
};

// While it lives SIGINT does not end the program: it stops the piece of work that is under way, and
// is forgotten when there is none; SIGTERM likewise where it is asked for. Reads from a terminal
// are interrupted (no SA_RESTART). When the reader of the output is gone (the pipe in "| head" was
// closed), the work under way is stopped too, and so is all work that begins later. One at a time
// in a process.
class Interrupt {
 public:
  static Result<std::unique_ptr<Interrupt>> install(StopOn also = {});
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  // A piece of work begins: the next SIGINT stops the token. The stop is requested, and its
  // callbacks run, on the thread that watches for the signal and the output, at once.
  std::stop_token begin();
  // It is over; true if it was stopped.
  bool end();
  // The reader of the output is gone.
  bool output_closed() const;

 private:
  struct State;
  explicit Interrupt(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace stoka::terminal
