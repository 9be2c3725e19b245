// Turns Ctrl-C, a closed output and, on request, SIGTERM into stop requests.
#pragma once

#include <memory>
#include <stop_token>

#include "base/result.h"

namespace stoka::terminal {

struct InterruptOptions {
  // A pipe or socket: when its reader is gone, the work is stopped; -1 for none. Other kinds of
  // files have no reader to watch.
  int output = -1;
  // Whether SIGTERM also stops the work, for commands that must clean up.
  bool sigterm = false;
};

// While an Interrupt exists, SIGINT does not end the process: it requests a stop of the current
// work, and is ignored if there is none. SIGTERM is handled in the same way if the options say so.
// Blocking reads from a terminal return with EINTR (no SA_RESTART). When the reader of the output
// is gone ("| head"), the current work and all later work is stopped. At most one Interrupt may
// exist in a process.
class Interrupt {
 public:
  static Result<std::unique_ptr<Interrupt>> install(InterruptOptions options = {});
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  // Starts a piece of work. The next SIGINT requests a stop of the returned token. The callbacks
  // of the token run on the thread that watches the signal and the output.
  std::stop_token begin();
  // Marks the work as ended; returns true if it was stopped.
  bool end();
  // True if the reader of the output is gone.
  bool output_closed() const;

 private:
  struct State;
  explicit Interrupt(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace stoka::terminal
