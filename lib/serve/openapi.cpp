#include "serve/openapi.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "model/event.h"
#include "serve/event_stream.h"
#include "serve/routes.h"

namespace stoka::serve {
namespace {

using OrderedJson = nlohmann::ordered_json;

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

constexpr const char* kSystemSchemas = R"json({
  "Problem": {"type": "object",
    "required": ["type", "title", "status", "code", "detail", "request_id"], "properties": {
    "type": {"type": "string", "const": "about:blank"},
    "title": {"type": "string", "description": "The reason phrase of the status."},
    "status": {"type": "integer"},
    "detail": {"type": "string", "description": "What is wrong."},
    "code": {"type": "string",
      "description": "The kind of error; it does not change between versions."},
    "hint": {"type": "string", "description": "What to do next."},
    "field": {"type": "string", "description": "Which field of the request is wrong."},
    "request_id": {"type": "string", "description": "The value of the header X-Request-Id."}},
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
      "description": "The length is counted in characters after trimming."},
    "session_id": {"type": ["string", "null"], "format": "uuid",
      "description": "From `ready`; null starts a new session."},
    "visitor_id": {"type": ["string", "null"], "format": "uuid",
      "description": "From `ready`; null makes a new visitor."},
    "page": {"type": ["string", "null"], "maxLength": 2048,
      "description": "Path or URL of the page."},
    "page_title": {"type": ["string", "null"], "maxLength": 512},
    "scroll_pct": {"type": ["integer", "null"], "minimum": 0, "maximum": 100},
    "seen_slugs": {"type": ["array", "null"], "maxItems": 200,
      "items": {"$ref": "#/components/schemas/Slug"},
      "description": "Pages that the visitor has seen or read; they are ranked lower."}}},
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
      "description": "Tags; they replace the old ones."},
    "read": {"type": ["array", "null"], "maxItems": 100,
      "items": {"$ref": "#/components/schemas/Slug"}, "description": "Slugs that were read."}},
    "description": "At least one of interests and read is required."},
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
      "description": "For display, with the year unless it is the current one. Empty if there is none.",
      "examples": ["Apr 12", "Nov 25, 2002"]},
    "score": {"type": "number", "minimum": 0, "maximum": 1},
    "kind": {"enum": ["block", "product", "inline"],
      "description": "inline: a further passage of a page that was shown."},
    "url": {"type": ["string", "null"], "format": "uri-reference",
      "description": "Links to the quote. A path if site.url is not set; null if there is no page.",
      "examples": ["https://example.com/blog/bounds#:~:text=A%20bound%20is%20a%20limit"]},
    "published": {"type": ["string", "null"], "format": "date", "examples": ["2026-04-12"]}}},
  "Done": {"type": "object", "required": ["turns", "confidence", "latency_ms"], "properties": {
    "turns": {"type": "integer", "minimum": 0, "description": "Turns of the session, including this one."},
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
      "description": "A line to show above it; null if there is none."}}}]},
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
  const char* name;  // the name of the response in components/responses
  const char* when;
  bool everywhere = false;  // whether any request may have this response
  bool retry_after = false;
};

constexpr Failure kFailures[] = {
    {400, "BadRequest", "The request is malformed; a wrong field is named.", true},
    {401, "Unauthorized", "The token is not valid."},
    {404, "NotFound", "There is no such document or visitor."},
    {405, "MethodNotAllowed", "The path has no such method; `Allow` lists its methods.", true},
    {408, "RequestTimeout", "The request came too slowly.", true},
    {413, "ContentTooLarge", "The body is larger than 64 KiB."},
    {414, "UriTooLong", "The address is too long.", true},
    {415, "UnsupportedMediaType", "The body is not application/json."},
    {417, "ExpectationFailed", "The header Expect is not 100-continue.", true},
    {429, "TooManyRequests", "The limit of this address is reached.", false, true},
    {431, "HeaderTooLarge", "Too many or too long header fields.", true},
    {500, "InternalError", "An error of the server or its index.", true},
    {501, "NotImplemented", "The transfer coding is not supported.", true},
    {503, "Unavailable", "The server is busy or shutting down, or a model server failed.", true,
     true},
    {505, "VersionNotSupported", "The request is not HTTP/1.1.", true},
};

// The bytes of an event stream, made from real events so that the examples match the server.
std::string encode_stream(const std::vector<Event>& events) {
  std::string out;
  for (const Event& event : events) append_event(out, event);
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
  std::string answer =
      encode_stream({ready, TokenEvent{"an argument, "}, TokenEvent{"not a manual."},
                     CiteEvent{citation}, DoneEvent{1, Confidence::direct, 412}});
  std::string broken = encode_stream({ready, ErrorEvent{"the generator broke off", true}});
  return {{"answer", OrderedJson{{"summary", "An answer with a citation"}, {"value", answer}}},
          {"broken", OrderedJson{{"summary", "An answer that broke off"}, {"value", broken}}}};
}

OrderedJson error_response(const Failure& failure) {
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

// Whether a request of the route may have this error. The member "errors" of the operation lists
// the statuses that do not follow from the route itself.
bool may_fail(const HttpRoute& route, const OrderedJson& operation, const Failure& failure) {
  if (failure.everywhere) return true;
  if (failure.status == 413 || failure.status == 415) return route.method == "POST";
  if (failure.status == 429) return route.limit != nullptr;
  const OrderedJson errors = operation.value("errors", OrderedJson::array());
  return std::find(errors.begin(), errors.end(), failure.status) != errors.end();
}

// The operation of a route with its possible errors, whose definitions are added to `responses`.
OrderedJson operation_of(const HttpRoute& route, OrderedJson& responses) {
  OrderedJson out = OrderedJson::parse(route.operation);
  OrderedJson& own = out["responses"];
  for (const Failure& failure : kFailures) {
    const std::string status = std::to_string(failure.status);
    if (!may_fail(route, out, failure) || own.contains(status)) continue;
    own[status] = {{"$ref", std::string("#/components/responses/") + failure.name}};
    if (!responses.contains(failure.name)) responses[failure.name] = error_response(failure);
  }
  out.erase("errors");
  return out;
}

}  // namespace

std::string openapi_json(bool bot_enabled, std::string_view version) {
  OrderedJson document{{"openapi", "3.1.0"}, {"info", OrderedJson::parse(kInfo)}};
  document["info"]["version"] = version;
  document["servers"] = OrderedJson::array({OrderedJson{{"url", "/"}}});
  document["security"] = OrderedJson::array();  // no token is needed, unless an operation says so
  OrderedJson responses = OrderedJson::object(), schemas = OrderedJson::parse(kSystemSchemas);
  OrderedJson paths = OrderedJson::object();
  for (const HttpRoute& route : http_routes())
    if (bot_enabled || !route.needs_bot)
      paths[std::string(route.path)][to_lower(route.method)] = operation_of(route, responses);
  if (bot_enabled) {
    paths["/api/stoka/chat"]["post"]["responses"]["200"]["content"]["text/event-stream"]
         ["examples"] = stream_examples();
    schemas.update(OrderedJson::parse(kBotSchemas));
    responses["NotModified"] = {{"description", "The file has the ETag of If-None-Match."}};
    constexpr std::pair<const char*, const char*> kEvents[] = {{"Ready", "Ready"},
                                                               {"Token", "Token"},
                                                               {"Cite", "Cite"},
                                                               {"Done", "Done"},
                                                               {"Error", "Failure"}};
    for (const auto& [event, data_schema] : kEvents) {
      OrderedJson name{{"const", to_lower(event)}};
      OrderedJson data{{"$ref", std::string("#/components/schemas/") + data_schema}};
      schemas[std::string(event) + "Event"] = {
          {"type", "object"},
          {"required", OrderedJson::array({"event", "data"})},
          {"properties", OrderedJson{{"event", std::move(name)}, {"data", std::move(data)}}}};
    }
  }
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
