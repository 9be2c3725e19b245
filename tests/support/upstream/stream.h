// The stream of a chat answer, as one of the real servers would send it.
#pragma once

#include "support/upstream/chat_answer.h"

namespace stoka::testing {

Answer stream_answer(const Context& context, const ChatAnswer& answer);

}  // namespace stoka::testing
