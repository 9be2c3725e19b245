// The routes of the server as an OpenAPI 3.1 document, for GET /openapi.json.
#pragma once

#include <string>
#include <string_view>

namespace stoka::serve {

// Without the /api/stoka routes and the page when the bot is switched off. An event stream is
// described twice: as the schemas of its events, {event, data}, in `oneOf`, which no generator of
// clients reads as a stream yet, and by name in `x-sse-events`.
std::string openapi_json(bool bot_enabled, std::string_view version);

}  // namespace stoka::serve
