// Three model servers on one port, in one thread: TEI's /info, /embed and /rerank, and OpenAI-style
// /v1/models and /v1/chat/completions. For a process of its own, so that its CPU is its own.
#pragma once

#include "bench/load/board.h"

namespace stoka::load {

// Serves the listening socket until SIGTERM.
//
// Faults, at the board's rate. Any request: status 500, the connection cut. /embed and /rerank: no
// JSON. A stream, at any token of it: cut, silent for ever, an error event, garbage.
void serve_models(int listener, Board& board);

}  // namespace stoka::load
