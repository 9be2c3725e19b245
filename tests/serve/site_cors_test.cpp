// CORS headers of every route, over HTTP.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "serve/server_fixture.h"
#include "serve/site.h"

namespace site_cors_test {

using namespace std::chrono_literals;
using namespace stoka;
using namespace stoka::testing;

namespace {

constexpr const char* kOrigin = "https://a.example";

size_t count(const HttpReply& reply, std::string_view name) {
  return static_cast<size_t>(
      std::count_if(reply.headers.begin(), reply.headers.end(),
                    [&](const auto& header) { return header.first == name; }));
}

// Browsers reject a response that has a CORS header twice.
void check_no_cors_header_twice(const HttpReply& reply) {
  for (const auto& [name, value] : reply.headers) {
    if (!name.starts_with("access-control-") && name != "vary") continue;
    CAPTURE(name);
    CHECK(count(reply, name) == 1);
  }
}

std::string bare(std::string_view method, std::string_view target, std::string_view headers) {
  return std::string(method) + " " + std::string(target) + " HTTP/1.1\r\nHost: x\r\n" +
         std::string(headers) + "\r\n";
}

// Reads a whole response; a response to HEAD has no body.
HttpReply ask(ServerFixture& fixture, const std::string& request) {
  HttpConnection client = fixture.client();
  client.send(request);
  return client.reply(request.starts_with("HEAD"));
}

}  // namespace

TEST_CASE("only allowed origins get CORS headers") {
  ServerFixture fixture;
  fixture.options.site.cors = serve::Cors::make({"https://a.example"}).value();
  const std::string question = Json{{"query", "what is this?"}}.dump();
  for (const auto& [origin, allowed] : std::vector<std::pair<std::string, std::string>>{
           {"https://a.example", "https://a.example"}, {"https://b.example", ""}, {"null", ""}}) {
    CAPTURE(origin);
    const std::string header = "Origin: " + origin + "\r\n";
    for (const std::string& request :
         {post("/api/stoka/chat", question, header), post("/api/stoka/chat", "{", header),
          get("/api/stoka/context?page=/", header)}) {
      const HttpReply reply = fixture.ask(request);
      CHECK(reply.header("access-control-allow-origin") == allowed);
      CHECK(reply.header("access-control-allow-credentials").empty());
      CHECK(reply.header("vary").find("Origin") != std::string::npos);
    }
    const HttpReply preflight =
        fixture.ask("OPTIONS /api/stoka/chat HTTP/1.1\r\nHost: x\r\n" + header +
                    "Access-Control-Request-Method: POST\r\n"
                    "Access-Control-Request-Headers: content-type\r\n\r\n");
    CHECK(preflight.status == 204);
    CHECK(preflight.header("access-control-allow-origin") == allowed);
    CHECK(preflight.header("access-control-allow-methods").empty() == allowed.empty());
  }
  CHECK(fixture.ask(get("/metrics", "Origin: https://a.example\r\n"))
            .header("access-control-allow-origin")
            .empty());
  CHECK(fixture.ask(get("/stoka-terminal.js")).header("access-control-allow-origin") == "*");
}

TEST_CASE("every response has each CORS header at most once") {
  for (const std::vector<std::string>& origins :
       {std::vector<std::string>{kOrigin, "https://b.example"}, std::vector<std::string>{"*"}}) {
    ServerFixture fixture;
    fixture.options.site.cors = serve::Cors::make(origins).value();
    fixture.options.site.chat = fixture.options.site.discover = fixture.options.site.context = {};
    const std::string allowed = origins.front() == "*" ? "*" : kOrigin;
    const std::string from = "Origin: " + std::string(kOrigin) + "\r\n";
    const std::string asks_first = from +
                                   "Access-Control-Request-Method: POST\r\n"
                                   "Access-Control-Request-Headers: content-type\r\n";
    std::vector<std::string> paths = {"/api/stoka/nowhere", "/nowhere"};
    for (const std::string_view path : serve::route_paths()) paths.emplace_back(path);
    for (const std::string& path : paths) {
      CAPTURE(path);
      const bool of_api = path.starts_with("/api/");
      const bool script = path == "/stoka-terminal.js";
      for (const std::string& request :
           {get(path, from), post(path, "{}", from), post(path, "{", from),
            bare("HEAD", path, from), bare("OPTIONS", path, from),
            bare("OPTIONS", path, asks_first), bare("DELETE", path, from),
            bare("PUT", path, from)}) {
        CAPTURE(request);
        const HttpReply reply = ask(fixture, request);
        CHECK(reply.status >= 200);
        check_no_cors_header_twice(reply);
        if (of_api) CHECK(reply.header("access-control-allow-origin") == allowed);
        // Any site may load the script, and nothing else.
        if (!of_api && !(script && reply.status == 200))
          CHECK(count(reply, "access-control-allow-origin") == 0);
      }
      const HttpReply preflight = ask(fixture, bare("OPTIONS", path, asks_first));
      const bool granted = of_api && path != "/api/stoka/nowhere";
      CHECK(count(preflight, "access-control-allow-methods") == (granted ? 1u : 0u));
      CHECK(count(preflight, "access-control-allow-headers") == (granted ? 1u : 0u));
      CHECK(count(preflight, "allow") == (granted || preflight.status == 404 ? 0u : 1u));
    }
  }
}

TEST_CASE("an error response has CORS headers, too") {
  ServerFixture fixture;
  fixture.options.site.cors = serve::Cors::make({kOrigin}).value();
  fixture.options.site.chat = {1, 300s};
  const std::string from = "Origin: " + std::string(kOrigin) + "\r\n";
  const std::string question = Json{{"query", "what is this?"}}.dump();
  struct Case {
    std::string request;
    int status;
  };
  for (const Case& c : std::vector<Case>{
           {post("/api/stoka/chat", question, from), 200},
           {post("/api/stoka/chat", question, from), 429},
           {bare("POST", "/api/stoka/profile", from + "Content-Length: 2\r\n") + "{}", 415},
           {post("/api/stoka/profile", "{", from), 400},
           {get("/api/stoka/profile", from + "Authorization: Bearer x\r\n"), 401},
           {get("/api/stoka/open?slug=x", from), 404},
           {bare("DELETE", "/api/stoka/chat", from), 405},
           {bare("POST", "/api/stoka/chat", from + "Content-Length: 65537\r\n"), 413},
           {bare("POST", "/api/stoka/chat", from + "Expect: a cake\r\n"), 417}}) {
    CAPTURE(c.request.substr(0, 200));
    const HttpReply reply = ask(fixture, c.request);
    CHECK(reply.status == c.status);
    check_no_cors_header_twice(reply);
    const bool readable = c.status != 417;  // refused before the Origin is read
    CHECK(reply.header("access-control-allow-origin") == (readable ? kOrigin : ""));
  }
}

}  // namespace site_cors_test
