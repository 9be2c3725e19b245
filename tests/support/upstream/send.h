// An answer onto the wire, at the pace and with the end that its behaviour wants.
#pragma once

#include <chrono>
#include <optional>

#include "support/upstream/answer.h"
#include "support/upstream/behaviour.h"
#include "support/upstream/wire.h"

namespace stoka::testing {

struct Sent {
  bool complete = false;
  bool keep = false;  // the connection is good for another request
  std::optional<std::chrono::milliseconds> left_after;
};

Sent send_answer(Wire& wire, const Answer& answer, const Behaviour& behaviour);

}  // namespace stoka::testing
