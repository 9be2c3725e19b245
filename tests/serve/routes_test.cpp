#include "serve/routes.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

#include "base/ascii.h"
#include "serve/metrics.h"
#include "serve/openapi.h"
#include "support/json.h"

namespace routes_test {

using namespace stoka;
using Json = nlohmann::json;

TEST_CASE("every route has an OpenAPI description that fits its method and its limit") {
  const Json paths = Json::parse(serve::openapi_json(true, "x"))["paths"];
  size_t described = 0;
  for (const Json& path : paths) described += path.size();
  CHECK(described == serve::http_routes().size());
  for (const serve::HttpRoute& route : serve::http_routes()) {
    const std::string path(route.path), method = to_lower(route.method);
    CAPTURE(method);
    CAPTURE(path);
    REQUIRE(Json::parse(route.operation, nullptr, false).is_object());
    REQUIRE(paths.contains(path));
    REQUIRE(paths[path].contains(method));
    const Json& operation = paths[path][method];
    CHECK(operation.value("operationId", "") != "");
    CHECK(operation.value("summary", "") != "");
    CHECK(operation.contains("requestBody") == (route.method == "POST"));
    CHECK(operation["responses"].contains("415") == (route.method == "POST"));
    CHECK(operation["responses"].contains("429") == (route.limit != nullptr));
  }
}

TEST_CASE("every route has a handler, and no two routes have the same method and path") {
  std::set<std::string> seen;
  for (const serve::HttpRoute& route : serve::http_routes()) {
    const std::string name = std::string(route.method) + " " + std::string(route.path);
    CAPTURE(name);
    CHECK((route.handler != nullptr));
    CHECK((route.method == "GET" || route.method == "POST"));
    CHECK(route.path.starts_with('/'));
    CHECK(seen.insert(name).second);
  }
}

TEST_CASE("every route is counted under its own path") {
  serve::Metrics metrics("x", serve::route_paths());
  for (const serve::HttpRoute& route : serve::http_routes()) {
    CAPTURE(std::string(route.path));
    metrics.requests(route.path, 200).add();
    const std::string label = "stoka_requests_total{route=\"" + std::string(route.path) + "\"";
    CHECK(metrics.text().find(label) != std::string::npos);
  }
  CHECK(metrics.text().find("route=\"other\",status") == std::string::npos);
}

TEST_CASE("routes that the bot needs are described only if the bot is enabled") {
  const Json paths = Json::parse(serve::openapi_json(false, "x"))["paths"];
  for (const serve::HttpRoute& route : serve::http_routes()) {
    CAPTURE(std::string(route.path));
    CHECK(paths.contains(std::string(route.path)) == !route.needs_bot);
    // The dispatch leaves out these routes if the bot is disabled.
    if (route.path.starts_with("/api/")) CHECK(route.needs_bot);
  }
}

}  // namespace routes_test
