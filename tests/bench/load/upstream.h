// Fake model servers on one port and one thread: /info, /embed and /rerank as in TEI, /v1/models
// and /v1/chat/completions as in OpenAI. Run it in a process of its own, so that its CPU time can
// be told apart.
#pragma once

#include "bench/load/board.h"

namespace stoka::load {

// Serves the listening socket until SIGTERM.
//
// Injects faults at the rate set on the board. Any request: status 500 or a closed connection.
// /embed and /rerank: a body that is not JSON. A stream, at any token: a closed connection,
// silence, an error event or garbage.
void serve_models(int listener, Board& board);

}  // namespace stoka::load
