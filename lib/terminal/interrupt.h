// Ctrl-C as a stop; for a command that has to clean up after itself SIGTERM, too.
#pragma once

#include <memory>
#include <stop_token>

#include "base/result.h"

namespace stoka::terminal {

// Which signals stop the work.
enum class StopOn { sigint, sigint_and_sigterm };

// While it lives these signals do not end the program: they stop the piece of work that is under
// way, and are forgotten when there is none. Reads from a terminal are interrupted (no SA_RESTART).
// One at a time in a process.
class Interrupt {
 public:
  static Result<std::unique_ptr<Interrupt>> install(StopOn signals = StopOn::sigint);
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  // A piece of work begins: the next signal stops the token. The stop is requested, and its
  // callbacks run, on the thread that watches for the signal, at once.
  std::stop_token begin();
  // It is over; true if it was stopped.
  bool end();

 private:
  struct State;
  explicit Interrupt(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace stoka::terminal
