// Events as they are sent.
#pragma once

#include <string>
#include <string_view>

#include "model/event.h"

namespace stoka::serve {

// Adds "event: NAME\ndata: COMPACT-JSON\n\n".
void append_event(std::string& out, const Event& event);

// A comment, which keeps proxies awake and means nothing.
inline constexpr std::string_view kPing = ":\n\n";

}  // namespace stoka::serve
