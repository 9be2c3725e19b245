#pragma once

#include "net/upstream.h"

namespace stoka::net {

// Whether a refusal says that a text, or all of them together, is longer than the server or its
// model takes: 413, or a 400, 422 or 500 whose message speaks of length.
bool too_long(const Answer& answer);

}  // namespace stoka::net
