// The OpenAPI 3.1 document of the server's routes, for GET /openapi.json.
#pragma once

#include <string>
#include <string_view>

namespace stoka::serve {

// Makes the document. The /api/stoka routes and the page are left out if the bot is disabled. The
// event stream is described twice: by the schemas of its events, {event, data}, in `oneOf`, which
// no client generator reads as a stream yet, and by event name in `x-sse-events`.
std::string openapi_json(bool bot_enabled, std::string_view version);

}  // namespace stoka::serve
