#include "serve/routes.h"

#include <algorithm>

#include "serve/site.h"

namespace stoka::serve {

std::span<const HttpRoute> http_routes() {
  static constexpr HttpRoute kRoutes[] = {
      {"GET", "/", &Site::file, nullptr, true, R"json({
  "operationId": "terminalPage", "tags": ["page"], "summary": "A page with the terminal on it",
  "responses": {"200": {"description": "The page.",
    "content": {"text/html": {"schema": {"type": "string"}}}},
    "304": {"$ref": "#/components/responses/NotModified"}}
})json"},
      {"GET", "/stoka-terminal.js", &Site::file, nullptr, true, R"json({
  "operationId": "terminalScript", "tags": ["page"],
  "summary": "The custom element <stoka-terminal>, for any page",
  "responses": {"200": {"description": "A JavaScript module without dependencies.",
    "content": {"text/javascript": {"schema": {"type": "string"}}}},
    "304": {"$ref": "#/components/responses/NotModified"}}
})json"},
      {"POST", "/api/stoka/chat", &Site::chat, &RateLimiters::chat, true, R"json({
  "operationId": "chat", "tags": ["stoka"], "summary": "Ask a question; the answer is a stream of events",
  "description": "The first event is `ready`, the last is `done` or `error`. An invalid token is ignored.",
  "security": [{}, {"bearerAuth": []}],
  "requestBody": {"required": true, "content": {"application/json": {
    "schema": {"$ref": "#/components/schemas/ChatRequest"},
    "examples": {
      "first": {"summary": "A first question", "value": {"query": "tell me about bounded execution"}},
      "next": {"summary": "The next one, from a page", "value": {
        "query": "what about retries?", "session_id": "6f1c9c9e-52a6-4d0e-9d5f-0c6a3a1b7e11",
        "visitor_id": "0b9f5a3c-6a57-4a6e-8a43-5a5f1c0f9a02", "page": "/blog/retry-storms",
        "page_title": "Retry storms", "scroll_pct": 40,
        "seen_slugs": ["philosophy-bounded-execution"]}}}}}},
  "responses": {"200": {"description": "The answer.",
    "headers": {
      "Cache-Control": {"schema": {"const": "no-cache"}},
      "X-Accel-Buffering": {"description": "Tells nginx not to hold events back.",
        "schema": {"const": "no"}}},
    "content": {"text/event-stream": {
      "schema": {"oneOf": [
        {"$ref": "#/components/schemas/ReadyEvent"}, {"$ref": "#/components/schemas/TokenEvent"},
        {"$ref": "#/components/schemas/CiteEvent"}, {"$ref": "#/components/schemas/DoneEvent"},
        {"$ref": "#/components/schemas/ErrorEvent"}]},
      "x-sse-events": {
        "ready": {"$ref": "#/components/schemas/Ready"}, "token": {"$ref": "#/components/schemas/Token"},
        "cite": {"$ref": "#/components/schemas/Cite"}, "done": {"$ref": "#/components/schemas/Done"},
        "error": {"$ref": "#/components/schemas/Failure"}}}}}}
})json"},
      {"POST", "/api/stoka/discover", &Site::discover, &RateLimiters::discover, true, R"json({
  "operationId": "discover", "tags": ["stoka"], "summary": "What to read next",
  "description": "Never recommends the page itself or a page that was seen.",
  "requestBody": {"required": true, "content": {"application/json": {
    "schema": {"$ref": "#/components/schemas/DiscoverRequest"},
    "examples": {"page": {"value": {"page": "/blog/philosophy-bounded-execution", "limit": 3}}}}}},
  "responses": {"200": {"description": "Best first.",
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Recommendations"}}}}}
})json"},
      {"GET", "/api/stoka/context", &Site::context, &RateLimiters::context, true, R"json({
  "operationId": "context", "tags": ["stoka"], "summary": "One ambient line about a page",
  "description": "The answer for a page is cached for 60 seconds.",
  "parameters": [{"name": "page", "in": "query", "required": true,
    "description": "Path or URL of the page.",
    "schema": {"type": "string", "maxLength": 2048}, "example": "/blog/philosophy-bounded-execution"}],
  "responses": {"200": {"description": "A line, a citation, both or neither.",
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Ambient"}}}}}
})json"},
      {"GET", "/api/stoka/profile", &Site::get_profile, &RateLimiters::discover, true, R"json({
  "operationId": "getProfile", "tags": ["stoka"],
  "summary": "Interests and reading history of a visitor",
  "security": [{}, {"bearerAuth": []}],
  "parameters": [{"name": "visitor_id", "in": "query", "required": true,
    "schema": {"type": "string", "format": "uuid"}, "example": "0b9f5a3c-6a57-4a6e-8a43-5a5f1c0f9a02"}],
  "responses": {"200": {"description": "The profile.",
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Profile"}}}}},
  "errors": [401, 404]
})json"},
      {"POST", "/api/stoka/profile", &Site::update_profile, &RateLimiters::discover, true, R"json({
  "operationId": "setProfile", "tags": ["stoka"],
  "summary": "Set interests, or add pages that were read",
  "description": "Interests replace the old ones; slugs are added to the history.",
  "security": [{}, {"bearerAuth": []}],
  "requestBody": {"required": true, "content": {"application/json": {
    "schema": {"$ref": "#/components/schemas/ProfileRequest"},
    "examples": {"declare": {"value": {"visitor_id": "0b9f5a3c-6a57-4a6e-8a43-5a5f1c0f9a02",
      "interests": ["philosophy", "reliability"]}}}}}},
  "responses": {"200": {"description": "The profile as it is now.",
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Profile"}}}}},
  "errors": [401, 404]
})json"},
      {"GET", "/api/stoka/open", &Site::open, &RateLimiters::context, true, R"json({
  "operationId": "open", "tags": ["stoka"], "summary": "Redirect to the page of a document",
  "parameters": [{"name": "slug", "in": "query", "required": true,
    "schema": {"type": "string", "minLength": 1}, "example": "philosophy-bounded-execution"}],
  "responses": {"302": {"description": "The address of the page.",
    "headers": {"Location": {"schema": {"type": "string", "format": "uri-reference"}}}}},
  "errors": [404]
})json"},
      {"GET", "/openapi.json", &Site::openapi, nullptr, false, R"json({
  "operationId": "openapi", "tags": ["server"], "summary": "This document",
  "responses": {"200": {"description": "OpenAPI 3.1.",
    "content": {"application/json": {"schema": {"type": "object"}}}}}
})json"},
      {"GET", "/healthz", &Site::healthz, nullptr, false, R"json({
  "operationId": "health", "tags": ["server"], "summary": "Whether the process is alive",
  "responses": {"200": {"description": "It is alive.",
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Health"}}}}}
})json"},
      {"GET", "/readyz", &Site::readyz, nullptr, false, R"json({
  "operationId": "ready", "tags": ["server"],
  "summary": "Whether the server can answer questions; 503 while it shuts down",
  "responses": {
    "200": {"description": "Ready.",
      "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Readiness"}}}},
    "503": {"description": "Not ready; the checks say why.",
      "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Readiness"}}}}}
})json"},
      {"GET", "/metrics", &Site::metrics, nullptr, false, R"json({
  "operationId": "metrics", "tags": ["server"], "summary": "Metrics for Prometheus",
  "responses": {"200": {"description": "Text exposition format 0.0.4.",
    "content": {"text/plain": {"schema": {"type": "string"}}}}}
})json"},
  };
  return kRoutes;
}

std::vector<std::string_view> route_paths() {
  std::vector<std::string_view> out;
  for (const HttpRoute& route : http_routes())
    if (std::find(out.begin(), out.end(), route.path) == out.end()) out.push_back(route.path);
  return out;
}

}  // namespace stoka::serve
