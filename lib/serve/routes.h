// The table of the server's HTTP routes. The dispatch and the rate limits of the Site, the labels
// of the metrics and the paths of /openapi.json are all taken from it.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace stoka::serve {

class PendingResponse;
class RateLimiter;
class Site;
struct HandlerArgs;
struct RateLimiters;

struct HttpRoute {
  std::string_view method;
  std::string_view path;  // the path, also used as the label of the route's metrics
  std::shared_ptr<PendingResponse> (Site::*handler)(HandlerArgs& args);
  RateLimiter RateLimiters::*limit;  // the rate limit; null if the route has none
  // Whether the route is missing, also in /openapi.json, while the bot is disabled.
  bool needs_bot;
  // The OpenAPI operation in JSON. Its member "errors" is not OpenAPI: it lists the error statuses
  // that are possible neither for every request nor because of the rest of the row.
  std::string_view operation;
};

// All routes, in the order of /openapi.json.
std::span<const HttpRoute> http_routes();

// The paths of all routes, each one once.
std::vector<std::string_view> route_paths();

}  // namespace stoka::serve
