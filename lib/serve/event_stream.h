// Writes the events of a turn as server-sent events; client/event_reader.h reads them.
#pragma once

#include <string>
#include <string_view>

#include "model/event.h"

namespace stoka::serve {

// Appends "event: NAME\ndata: COMPACT-JSON\n\n".
void append_event(std::string& out, const Event& event);

// A comment of an event stream. Clients ignore it; it keeps proxies from closing an idle stream.
inline constexpr std::string_view kPing = ":\n\n";

}  // namespace stoka::serve
