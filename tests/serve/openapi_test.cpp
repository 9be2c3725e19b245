#include "serve/openapi.h"

#include <doctest/doctest.h>

#include <map>
#include <set>

#include "model/event.h"
#include "support/json.h"

namespace openapi_test {

using namespace stoka;
using Json = nlohmann::json;

namespace {

Json document(bool bot_enabled) {
  return Json::parse(serve::openapi_json(bot_enabled, "1.2.3"), nullptr, false);
}

void collect_refs(const Json& node, std::set<std::string>& out) {
  if (node.is_object() && node.contains("$ref")) out.insert(node["$ref"].get<std::string>());
  if (node.is_structured())
    for (const Json& child : node) collect_refs(child, out);
}

std::set<std::string> keys(const Json& object) {
  std::set<std::string> out;
  for (const auto& [key, value] : object.items()) out.insert(key);
  return out;
}

// The operations by name: "GET /healthz", …
std::map<std::string, Json> operations(const Json& doc) {
  std::map<std::string, Json> out;
  for (const auto& [path, methods] : doc["paths"].items())
    for (const auto& [method, operation] : methods.items())
      out[(method == "get" ? "GET " : method == "post" ? "POST " : "? ") + path] = operation;
  return out;
}

const std::set<std::string> kSystem = {"GET /openapi.json", "GET /healthz", "GET /readyz",
                                       "GET /metrics"};
const std::set<std::string> kBot = {"POST /api/stoka/chat",
                                    "POST /api/stoka/discover",
                                    "GET /api/stoka/context",
                                    "GET /api/stoka/profile",
                                    "POST /api/stoka/profile",
                                    "GET /api/stoka/open",
                                    "GET /",
                                    "GET /stoka-terminal.js"};

}  // namespace

TEST_CASE("the document lists exactly the routes, with and without the bot") {
  for (bool bot : {true, false}) {
    Json doc = document(bot);
    REQUIRE(doc.is_object());
    CHECK(doc["openapi"] == "3.1.0");
    CHECK(doc["info"]["version"] == "1.2.3");
    std::set<std::string> expected = kSystem, found;
    if (bot) expected.insert(kBot.begin(), kBot.end());
    for (const auto& [route, operation] : operations(doc)) found.insert(route);
    CHECK(found == expected);
  }
  CHECK(serve::openapi_json(false, "x").find("/api/stoka") == std::string::npos);
}

TEST_CASE("every reference resolves, and every component is used") {
  for (bool bot : {true, false}) {
    Json doc = document(bot);
    std::set<std::string> refs, components;
    collect_refs(doc, refs);
    for (const std::string& ref : refs) {
      CAPTURE(ref);
      REQUIRE(ref.starts_with("#/"));
      CHECK(doc.contains(Json::json_pointer(ref.substr(1))));
    }
    for (const char* kind : {"schemas", "responses"})
      for (const std::string& name : keys(doc["components"][kind]))
        components.insert("#/components/" + std::string(kind) + "/" + name);
    CHECK(components == refs);
    CHECK(doc["components"].contains("securitySchemes") == bot);
  }
}

TEST_CASE("every operation has a unique id, a summary and described responses") {
  Json doc = document(true);
  std::set<std::string> ids;
  for (const auto& [route, operation] : operations(doc)) {
    CAPTURE(route);
    CHECK(ids.insert(operation.value("operationId", "")).second);
    CHECK(operation.value("summary", "") != "");
    CHECK(!operation.contains("errors"));
    REQUIRE(operation["responses"].is_object());
    CHECK((operation["responses"].contains("200") || operation["responses"].contains("302")));
    for (const auto& [status, response] : operation["responses"].items()) {
      CAPTURE(status);
      CHECK(status.size() == 3);
      const Json& there =
          response.contains("$ref")
              ? doc.at(Json::json_pointer(response["$ref"].get<std::string>().substr(1)))
              : response;
      CHECK(there.value("description", "") != "");
      if (status >= "400" && response.contains("$ref")) {
        CHECK(there["content"].contains("application/problem+json"));
        CHECK(there.value("headers", Json::object()).contains("Retry-After") ==
              (status == "429" || status == "503"));
      }
    }
  }
  CHECK(ids.count("") == 0);
}

TEST_CASE("error responses are listed only where they can occur") {
  struct {
    const char* status;
    std::set<std::string> routes;  // empty: all
  } cases[] = {
      {"400", {}},
      {"401", {"GET /api/stoka/profile", "POST /api/stoka/profile"}},
      {"404", {"GET /api/stoka/profile", "POST /api/stoka/profile", "GET /api/stoka/open"}},
      {"405", {}},
      {"408", {}},
      {"413", {"POST /api/stoka/chat", "POST /api/stoka/discover", "POST /api/stoka/profile"}},
      {"415", {"POST /api/stoka/chat", "POST /api/stoka/discover", "POST /api/stoka/profile"}},
      {"414", {}},
      {"429",
       {"POST /api/stoka/chat", "POST /api/stoka/discover", "GET /api/stoka/context",
        "GET /api/stoka/profile", "POST /api/stoka/profile", "GET /api/stoka/open"}},
      {"431", {}},
      {"503", {}},
  };
  Json doc = document(true);
  for (const auto& c : cases)
    for (const auto& [route, operation] : operations(doc)) {
      CAPTURE(c.status);
      CAPTURE(route);
      CHECK(operation["responses"].contains(c.status) ==
            (c.routes.empty() || c.routes.count(route) > 0));
    }
}

TEST_CASE("the event schemas match the wire format field by field") {
  Json doc = document(true);
  const Json& schemas = doc["components"]["schemas"];
  const Json& stream =
      doc["paths"]["/api/stoka/chat"]["post"]["responses"]["200"]["content"]["text/event-stream"];
  const Event events[] = {ReadyEvent{}, TokenEvent{}, CiteEvent{}, DoneEvent{}, ErrorEvent{}};
  CHECK(stream["schema"]["oneOf"].size() == std::size(events));
  CHECK(stream["x-sse-events"].size() == std::size(events));
  size_t i = 0;
  for (const Event& event : events) {
    std::string event_name(to_string(event));
    CAPTURE(event_name);
    const Json& data = stream["x-sse-events"].at(event_name);
    const Json& schema = doc.at(Json::json_pointer(data["$ref"].get<std::string>().substr(1)));
    std::set<std::string> fields = keys(Json::parse(data_json(event)));
    CHECK(keys(schema["properties"]) == fields);
    CHECK(schema["required"].get<std::set<std::string>>() == fields);

    auto ref = stream["schema"]["oneOf"][i++]["$ref"].get<std::string>();
    const Json& whole = doc.at(Json::json_pointer(ref.substr(1)));
    CHECK(whole["properties"]["event"]["const"] == event_name);
    CHECK(whole["properties"]["data"] == data);
  }
  std::set<std::string> routes;
  for (Route route : {Route::meta, Route::offtopic, Route::followup, Route::fresh, Route::nothing})
    routes.insert(std::string(to_string(route)));
  CHECK(schemas["Ready"]["properties"]["route"]["enum"].get<std::set<std::string>>() == routes);
}

TEST_CASE("the examples of event streams in the document are valid event streams") {
  Json doc = document(true);
  const Json& stream =
      doc["paths"]["/api/stoka/chat"]["post"]["responses"]["200"]["content"]["text/event-stream"];
  CHECK(stream["examples"].size() == 2);
  for (const Json& example : stream["examples"]) {
    auto text = example["value"].get<std::string>();
    std::vector<std::string> names;
    while (!text.empty()) {
      size_t end = text.find("\n\n");
      REQUIRE(end != std::string::npos);
      std::string event = text.substr(0, end);
      text.erase(0, end + 2);
      size_t line = event.find("\ndata: ");
      REQUIRE(event.starts_with("event: "));
      REQUIRE(line != std::string::npos);
      names.push_back(event.substr(7, line - 7));
      Json data = Json::parse(event.substr(line + 7), nullptr, false);
      const Json& ref = stream["x-sse-events"].at(names.back())["$ref"];
      const Json& schema = doc.at(Json::json_pointer(ref.get<std::string>().substr(1)));
      CHECK(keys(data) == keys(schema["properties"]));
    }
    CHECK(names.front() == "ready");
    CHECK((names.back() == "done" || names.back() == "error"));
  }
}

TEST_CASE("request schemas have limits and refuse unknown fields") {
  Json doc = document(true);
  const Json& schemas = doc["components"]["schemas"];
  for (const char* name : {"ChatRequest", "DiscoverRequest", "ProfileRequest"})
    CHECK_MESSAGE(schemas[name]["additionalProperties"] == false, name);
  const Json& chat = schemas["ChatRequest"]["properties"];
  CHECK(keys(chat) == std::set<std::string>{"query", "session_id", "visitor_id", "page",
                                            "page_title", "scroll_pct", "seen_slugs"});
  CHECK(schemas["ChatRequest"]["required"] == Json::array({"query"}));
  CHECK(chat["query"]["maxLength"] == 2000);
  CHECK(chat["page"]["maxLength"] == 2048);
  CHECK(chat["page_title"]["maxLength"] == 512);
  CHECK(chat["scroll_pct"]["maximum"] == 100);
  CHECK(chat["seen_slugs"]["maxItems"] == 200);
  const Json& limit = schemas["DiscoverRequest"]["properties"]["limit"];
  CHECK(limit["minimum"] == 1);
  CHECK(limit["maximum"] == 10);
  CHECK(limit["default"] == 3);
  CHECK(doc["components"]["securitySchemes"]["bearerAuth"]["scheme"] == "bearer");
  for (const auto& [route, operation] : operations(doc))
    if (operation.contains("security"))
      CHECK_MESSAGE(operation["security"][0] == Json::object(), route);  // optional
}

}  // namespace openapi_test
