#include "serve/openapi.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "model/event.h"

namespace stoka::serve {
namespace {

using OrderedJson = nlohmann::ordered_json;

// Routes are written as OpenAPI has them, but for "errors": the statuses, beside those that any
// request may meet, that `with_errors` turns into responses.

constexpr const char* kInfo =
    R"json({
  "title": "stoka",
  "summary": "A site that can talk about itself.",
  "description": ")json"
    R"json(Ask, and get two or three terse sentences and a citation of )json"
    R"json(something published on the site. A citation is real: slug, )json"
    R"json(title, date and quote come from the content.\n\n)json"
    R"json(A path that is not listed answers 404, another method 405 )json"
    R"json(with `Allow`. A route that limits how often an address may ask says )json"
    R"json(`RateLimit-Limit` and `RateLimit-Remaining`. Every failure before the first byte of an )json"
    R"json(answer is problem+json (RFC 9457); afterwards it is an )json"
    R"json(`error` event."
})json";

constexpr const char* kSystemPaths = R"json({
  "/openapi.json": {"get": {
    "operationId": "openapi", "tags": ["server"], "summary": "This document",
    "responses": {"200": {"description": "OpenAPI 3.1.",
      "content": {"application/json": {"schema": {"type": "object"}}}}}
  }},
  "/healthz": {"get": {
    "operationId": "health", "tags": ["server"], "summary": "Whether the process answers",
    "responses": {"200": {"description": "It does.",
      "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Health"}}}}}
  }},
  "/readyz": {"get": {
    "operationId": "ready", "tags": ["server"],
    "summary": "Whether every part answers and requests are welcome; 503 while shutting down",
    "responses": {
      "200": {"description": "Ready.",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Readiness"}}}},
      "503": {"description": "Not ready; the checks say why.",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Readiness"}}}}}
  }},
  "/metrics": {"get": {
    "operationId": "metrics", "tags": ["server"], "summary": "What Prometheus scrapes",
    "responses": {"200": {"description": "Text exposition format 0.0.4.",
      "content": {"text/plain": {"schema": {"type": "string"}}}}}
  }}
})json";

constexpr const char* kBotPaths = R"json({
  "/": {"get": {
    "operationId": "terminalPage", "tags": ["page"], "summary": "A page with the terminal on it",
    "responses": {"200": {"description": "The page.",
      "content": {"text/html": {"schema": {"type": "string"}}}},
      "304": {"$ref": "#/components/responses/NotModified"}}
  }},
  "/stoka-terminal.js": {"get": {
    "operationId": "terminalScript", "tags": ["page"],
    "summary": "The element <stoka-terminal>, for any page",
    "responses": {"200": {"description": "A module of JavaScript without dependencies.",
      "content": {"text/javascript": {"schema": {"type": "string"}}}},
      "304": {"$ref": "#/components/responses/NotModified"}}
  }},
  "/api/stoka/chat": {"post": {
    "operationId": "chat", "tags": ["stoka"], "summary": "Ask; the answer is a stream of events",
    "description": "`ready` first, one `done` or `error` last. An invalid token is ignored.",
    "security": [{}, {"bearerAuth": []}],
    "requestBody": {"required": true, "content": {"application/json": {
      "schema": {"$ref": "#/components/schemas/ChatRequest"},
      "examples": {
        "first": {"summary": "A first question",
          "value": {"query": "tell me about bounded execution"}},
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
          "ready": {"$ref": "#/components/schemas/Ready"},
            "token": {"$ref": "#/components/schemas/Token"},
          "cite": {"$ref": "#/components/schemas/Cite"},
            "done": {"$ref": "#/components/schemas/Done"},
          "error": {"$ref": "#/components/schemas/Failure"}}}}}},
    "errors": [413, 415, 429]
  }},
  "/api/stoka/discover": {"post": {
    "operationId": "discover", "tags": ["stoka"], "summary": "What to read next",
    "description": "Never the page itself nor what was seen.",
    "requestBody": {"required": true, "content": {"application/json": {
      "schema": {"$ref": "#/components/schemas/DiscoverRequest"},
      "examples": {"page": {"value": {"page": "/blog/philosophy-bounded-execution",
        "limit": 3}}}}}},
    "responses": {"200": {"description": "Best first.",
      "content": {"application/json": {
        "schema": {"$ref": "#/components/schemas/Recommendations"}}}}},
    "errors": [413, 415, 429]
  }},
  "/api/stoka/context": {"get": {
    "operationId": "context", "tags": ["stoka"], "summary": "One ambient line about a page",
    "description": "Kept for 60 seconds by page.",
    "parameters": [{"name": "page", "in": "query", "required": true,
      "description": "Path or URL of the page.",
      "schema": {"type": "string", "maxLength": 2048},
        "example": "/blog/philosophy-bounded-execution"}],
    "responses": {"200": {"description": "A line, a citation, both or neither.",
      "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Ambient"}}}}},
    "errors": [429]
  }},
  "/api/stoka/profile": {
    "get": {
      "operationId": "getProfile", "tags": ["stoka"],
        "summary": "Interests and reading history of a visitor",
      "security": [{}, {"bearerAuth": []}],
      "parameters": [{"name": "visitor_id", "in": "query", "required": true,
        "schema": {"type": "string", "format": "uuid"},
          "example": "0b9f5a3c-6a57-4a6e-8a43-5a5f1c0f9a02"}],
      "responses": {"200": {"description": "The profile.",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Profile"}}}}},
      "errors": [401, 404, 429]
    },
    "post": {
      "operationId": "setProfile", "tags": ["stoka"],
      "summary": "Declare interests, or say what was read",
      "description": "Interests replace the old ones, slugs join the history.",
      "security": [{}, {"bearerAuth": []}],
      "requestBody": {"required": true, "content": {"application/json": {
        "schema": {"$ref": "#/components/schemas/ProfileRequest"},
        "examples": {"declare": {"value": {"visitor_id": "0b9f5a3c-6a57-4a6e-8a43-5a5f1c0f9a02",
          "interests": ["philosophy", "reliability"]}}}}}},
      "responses": {"200": {"description": "The profile as it is now.",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Profile"}}}}},
      "errors": [401, 404, 413, 415, 429]
    }
  },
  "/api/stoka/open": {"get": {
    "operationId": "open", "tags": ["stoka"], "summary": "To the page of a document",
    "parameters": [{"name": "slug", "in": "query", "required": true, "schema": {"type": "string",
      "minLength": 1},
      "example": "philosophy-bounded-execution"}],
    "responses": {"302": {"description": "There it is.",
      "headers": {"Location": {"schema": {"type": "string", "format": "uri-reference"}}}}},
    "errors": [404, 429]
  }}
})json";

constexpr const char* kSystemSchemas = R"json({
  "Problem": {"type": "object",
    "required": ["type", "title", "status", "code", "detail", "request_id"], "properties": {
    "type": {"type": "string", "const": "about:blank"},
    "title": {"type": "string", "description": "The status in words."},
    "status": {"type": "integer"},
    "detail": {"type": "string", "description": "What is wrong."},
    "code": {"type": "string",
      "description": "What kind of failure it is; stays the same from version to version."},
    "hint": {"type": "string", "description": "What to do next."},
    "field": {"type": "string", "description": "Which field of the request is wrong."},
    "request_id": {"type": "string", "description": "As in the X-Request-Id of the answer."}},
    "examples": [{"type": "about:blank", "title": "Bad Request", "status": 400, "code": "usage",
      "detail": "scroll_pct is not a whole number from 0 to 100", "field": "scroll_pct",
      "request_id": "1c7c6a0f-6ad5-4f6a-9f0e-3f1a1f0d2b90"}]},
  "Health": {"type": "object", "required": ["status"], "properties": {"status": {"const": "ok"}}},
  "Readiness": {"type": "object", "required": ["status", "checks"], "properties": {
    "status": {"enum": ["ready", "not ready"]},
    "checks": {"type": "array", "items": {"type": "object", "required": ["name", "ok", "detail"],
      "properties": {
      "name": {"type": "string", "examples": ["store"]}, "ok": {"type": "boolean"},
      "detail": {"type": "string"}}}}}}
})json";

constexpr const char* kBotSchemas = R"json({
  "ChatRequest": {"type": "object", "required": ["query"], "additionalProperties": false,
    "properties": {
    "query": {"type": "string", "minLength": 1, "maxLength": 2000,
      "description": "Characters count after trimming."},
    "session_id": {"type": ["string", "null"], "format": "uuid",
      "description": "Of `ready`; null begins a session."},
    "visitor_id": {"type": ["string", "null"], "format": "uuid",
      "description": "Of `ready`; null makes one."},
    "page": {"type": ["string", "null"], "maxLength": 2048,
      "description": "Path or URL of the page."},
    "page_title": {"type": ["string", "null"], "maxLength": 512},
    "scroll_pct": {"type": ["integer", "null"], "minimum": 0, "maximum": 100},
    "seen_slugs": {"type": ["array", "null"], "maxItems": 200,
      "items": {"$ref": "#/components/schemas/Slug"},
      "description": "What the client has shown or the visitor has read; counts less."}}},
  "DiscoverRequest": {"type": "object", "additionalProperties": false, "properties": {
    "visitor_id": {"type": ["string", "null"], "format": "uuid"},
    "page": {"type": ["string", "null"], "maxLength": 2048},
    "seen_slugs": {"type": ["array", "null"], "maxItems": 200,
      "items": {"$ref": "#/components/schemas/Slug"}},
    "limit": {"type": ["integer", "null"], "minimum": 1, "maximum": 10, "default": 3}}},
  "ProfileRequest": {"type": "object", "required": ["visitor_id"], "additionalProperties": false,
    "properties": {
    "visitor_id": {"type": "string", "format": "uuid"},
    "interests": {"type": ["array", "null"], "maxItems": 50,
      "items": {"type": "string", "minLength": 1, "maxLength": 256},
      "description": "Tags; replaces the old ones."},
    "read": {"type": ["array", "null"], "maxItems": 100,
      "items": {"$ref": "#/components/schemas/Slug"}, "description": "Slugs that were read."}},
    "description": "One of interests and read must be there."},
  "Slug": {"type": "string", "minLength": 1, "maxLength": 256},
  "Ready": {"type": "object", "required": ["session_id", "visitor_id", "route"], "properties": {
    "session_id": {"type": "string", "format": "uuid"},
    "visitor_id": {"type": "string", "format": "uuid"},
    "route": {"enum": ["meta", "offtopic", "followup", "new", "void"]}}},
  "Token": {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}},
  "Cite": {"type": "object",
    "required": ["slug", "title", "quote", "type", "reading_time", "date", "score", "kind", "url",
      "published"], "properties": {
    "slug": {"type": "string"}, "title": {"type": "string"},
    "quote": {"type": "string", "description": "Verbatim from the content."},
    "type": {"type": "string", "examples": ["blog", "philosophy", "changelog", "product"]},
    "reading_time": {"type": "string", "examples": ["8 min"]},
    "date": {"type": "string",
      "description": "For people; with its year unless that is this year. Empty if there is none.",
      "examples": ["Apr 12", "Nov 25, 2002"]},
    "score": {"type": "number", "minimum": 0, "maximum": 1},
    "kind": {"enum": ["block", "product"], "description": "How it is to be drawn."},
    "url": {"type": ["string", "null"], "format": "uri-reference",
      "description": "Leads to the quote. A path where site.url is not set; null without a page.",
      "examples": ["https://example.com/blog/bounds#:~:text=A%20bound%20is%20a%20limit"]},
    "published": {"type": ["string", "null"], "format": "date", "examples": ["2026-04-12"]}}},
  "Done": {"type": "object", "required": ["turns", "confidence", "latency_ms"], "properties": {
    "turns": {"type": "integer", "minimum": 0, "description": "Of the session, with this one."},
    "confidence": {"$ref": "#/components/schemas/Confidence"},
    "latency_ms": {"type": "integer", "minimum": 0}}},
  "Failure": {"type": "object", "required": ["message", "retryable"], "properties": {
    "message": {"type": "string"},
    "retryable": {"type": "boolean",
      "description": "Whether the same question may be answered later."}}},
  "Confidence": {"enum": ["direct", "adjacent", "nothing"]},
  "Recommendation": {"allOf": [{"$ref": "#/components/schemas/Cite"},
    {"type": "object", "required": ["framing"], "properties": {"framing": {"type": ["string",
      "null"],
      "description": "A line to stand above it; null when nothing frames it."}}}]},
  "Recommendations": {"type": "object", "required": ["recommendations", "confidence"],
    "properties": {
    "recommendations": {"type": "array", "maxItems": 10,
      "items": {"$ref": "#/components/schemas/Recommendation"}},
    "confidence": {"$ref": "#/components/schemas/Confidence"}}},
  "Ambient": {"type": "object", "required": ["hint", "cite"], "properties": {
    "hint": {"type": ["string", "null"]},
    "cite": {"oneOf": [{"$ref": "#/components/schemas/Cite"}, {"type": "null"}]}}},
  "Profile": {"type": "object", "required": ["visitor_id", "interests", "reading_history"],
    "properties": {
    "visitor_id": {"type": "string", "format": "uuid"},
    "interests": {"type": "array", "items": {"type": "string"}},
    "reading_history": {"type": "array", "description": "Oldest first.", "items": {"type": "object",
      "required": ["slug", "at", "scroll_pct"], "properties": {"slug": {"type": "string"},
        "at": {"type": "string", "format": "date-time"},
        "scroll_pct": {"type": "integer", "minimum": 0, "maximum": 100}}}}}}
})json";

struct Failure {
  int status;
  const char* name;  // in components/responses
  const char* when;
  bool everywhere = false;  // whether any request may meet it
  bool retry_after = false;
};

constexpr Failure kFailures[] = {
    {400, "BadRequest", "The request is malformed; a wrong field is named.", true},
    {401, "Unauthorized", "The token is not valid."},
    {404, "NotFound", "There is no such document or visitor."},
    {405, "MethodNotAllowed", "Another method; `Allow` lists those there are.", true},
    {408, "RequestTimeout", "The request came too slowly.", true},
    {413, "ContentTooLarge", "The body is above 64 KiB."},
    {414, "UriTooLong", "The address is too long.", true},
    {415, "UnsupportedMediaType", "The body is not application/json."},
    {417, "ExpectationFailed", "The only Expect is 100-continue.", true},
    {429, "TooManyRequests", "The limit of this address is reached.", false, true},
    {431, "HeaderTooLarge", "Too many or too long header fields.", true},
    {500, "InternalError", "A fault of the server or its index.", true},
    {501, "NotImplemented", "A transfer coding that is not understood.", true},
    {503, "Unavailable", "Too busy, shutting down, or a part does not answer as it should.", true,
     true},
    {505, "VersionNotSupported", "The request is not HTTP/1.1.", true},
};

// As on the wire; made of events, so that it cannot say what the server does not.
std::string stream_of(const std::vector<Event>& events) {
  std::string out;
  for (const Event& event : events) {
    out += "event: ";
    out += name(event);
    out += "\ndata: " + data_json(event) + "\n\n";
  }
  return out;
}

OrderedJson stream_examples() {
  ReadyEvent ready{"6f1c9c9e-52a6-4d0e-9d5f-0c6a3a1b7e11", "0b9f5a3c-6a57-4a6e-8a43-5a5f1c0f9a02",
                   Route::fresh};
  Citation citation{"philosophy-bounded-execution",
                    "The Philosophy of Bounded Execution",
                    "A bound is a limit that holds when nobody is watching.",
                    "philosophy",
                    "8 min",
                    "Apr 12",
                    "https://example.com/blog/philosophy-bounded-execution"
                    "#:~:text=A%20bound%20is%20a%20limit%20that%20holds%20when%20nobody%20is%20"
                    "watching.",
                    0.91,
                    CiteKind::block,
                    parse_date("2026-04-12")};
  std::string answer = stream_of({ready, TokenEvent{"an argument, "}, TokenEvent{"not a manual."},
                                  CiteEvent{citation}, DoneEvent{1, Confidence::direct, 412}});
  std::string broken = stream_of({ready, ErrorEvent{"the generator broke off", true}});
  return {{"answer", OrderedJson{{"summary", "An answer with a citation"}, {"value", answer}}},
          {"broken", OrderedJson{{"summary", "An answer that broke off"}, {"value", broken}}}};
}

OrderedJson problem(const Failure& failure) {
  OrderedJson out{{"description", failure.when}};
  if (failure.status == 405)
    out["headers"] = {{"Allow", OrderedJson{{"schema", OrderedJson{{"type", "string"}}}}}};
  if (failure.status == 401)
    out["headers"] = {
        {"WWW-Authenticate", OrderedJson{{"schema", OrderedJson{{"type", "string"}}}}}};
  if (failure.retry_after) {
    OrderedJson header{{"description", "Seconds to wait."},
                       {"schema", OrderedJson{{"type", "integer"}, {"minimum", 1}}}};
    out["headers"] = {{"Retry-After", std::move(header)}};
  }
  OrderedJson schema{{"$ref", "#/components/schemas/Problem"}};
  out["content"] = {{"application/problem+json", OrderedJson{{"schema", std::move(schema)}}}};
  return out;
}

// Adds what may fail to the responses of every operation, and to `responses` what was referred to.
OrderedJson with_errors(OrderedJson paths, OrderedJson& responses) {
  for (OrderedJson& path : paths)
    for (OrderedJson& operation : path) {
      OrderedJson errors = operation.value("errors", OrderedJson::array());
      operation.erase("errors");
      OrderedJson& own = operation["responses"];
      for (const Failure& failure : kFailures) {
        std::string status = std::to_string(failure.status);
        bool listed = std::find(errors.begin(), errors.end(), failure.status) != errors.end();
        if ((!failure.everywhere && !listed) || own.contains(status)) continue;
        own[status] = {{"$ref", std::string("#/components/responses/") + failure.name}};
        if (!responses.contains(failure.name)) responses[failure.name] = problem(failure);
      }
    }
  return paths;
}

}  // namespace

std::string openapi_json(bool bot_enabled, std::string_view version) {
  OrderedJson document{{"openapi", "3.1.0"}, {"info", OrderedJson::parse(kInfo)}};
  document["info"]["version"] = version;
  document["servers"] = OrderedJson::array({OrderedJson{{"url", "/"}}});
  document["security"] = OrderedJson::array();  // none, but where an operation says so
  OrderedJson responses = OrderedJson::object(), schemas = OrderedJson::parse(kSystemSchemas);
  OrderedJson paths = OrderedJson::object();
  if (bot_enabled) {
    paths = with_errors(OrderedJson::parse(kBotPaths), responses);
    paths["/api/stoka/chat"]["post"]["responses"]["200"]["content"]["text/event-stream"]
         ["examples"] = stream_examples();
    schemas.update(OrderedJson::parse(kBotSchemas));
    responses["NotModified"] = {{"description", "It is as If-None-Match says."}};
    constexpr std::pair<const char*, const char*> kEvents[] = {{"Ready", "Ready"},
                                                               {"Token", "Token"},
                                                               {"Cite", "Cite"},
                                                               {"Done", "Done"},
                                                               {"Error", "Failure"}};
    for (const auto& [event, data_schema] : kEvents) {
      OrderedJson name{{"const", lower(event)}};
      OrderedJson data{{"$ref", std::string("#/components/schemas/") + data_schema}};
      schemas[std::string(event) + "Event"] = {
          {"type", "object"},
          {"required", OrderedJson::array({"event", "data"})},
          {"properties", OrderedJson{{"event", std::move(name)}, {"data", std::move(data)}}}};
    }
  }
  paths.update(with_errors(OrderedJson::parse(kSystemPaths), responses));
  document["paths"] = std::move(paths);
  document["components"] = {{"schemas", std::move(schemas)}, {"responses", std::move(responses)}};
  if (bot_enabled)
    document["components"]["securitySchemes"]["bearerAuth"] = {
        {"type", "http"},
        {"scheme", "bearer"},
        {"bearerFormat", "JWT"},
        {"description", "Optional. Links the visitor to the token's `sub`."}};
  return document.dump(1);
}

}  // namespace stoka::serve
