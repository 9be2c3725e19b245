#include "serve/site.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "serve/server_fixture.h"
#include "serve/tokens.h"

namespace site_test {

using namespace std::chrono_literals;
using namespace stoka;
using namespace stoka::testing;

namespace {

constexpr const char* kVisitor = "22222222-2222-4222-8222-222222222222";
constexpr const char* kSession = "11111111-1111-4111-8111-111111111111";
std::string profile_of(const char* visitor) {
  return "/api/stoka/profile?visitor_id=" + std::string(visitor);
}

// name{label="value",…} number
bool is_sample(const std::string& line) {
  const size_t blank = line.rfind(' ');
  if (blank == std::string::npos) return false;
  const std::string number = line.substr(blank + 1);
  char* end = nullptr;
  std::strtod(number.c_str(), &end);
  const size_t brace = std::min(line.find('{'), blank);
  const std::string name = line.substr(0, brace);
  const std::string labels = line.substr(brace, blank - brace);
  return !number.empty() && *end == '\0' &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string::npos &&
         (labels.empty() || (labels.starts_with('{') && labels.ends_with("\"}") &&
                             std::count(labels.begin(), labels.end(), '"') % 2 == 0));
}

std::set<std::string> operations(const Json& document) {
  std::set<std::string> out;
  for (const auto& [path, methods] : document["paths"].items())
    for (const auto& [method, operation] : methods.items())
      out.insert((method == "get" ? "GET " : "POST ") + path);
  return out;
}

}  // namespace

TEST_CASE("chat answers with a stream of events") {
  ServerFixture fixture;
  const HttpReply reply = fixture.ask(chat({{"query", "tell me about bounded execution"},
                                            {"session_id", kSession},
                                            {"visitor_id", kVisitor},
                                            {"page", "/blog/x"},
                                            {"page_title", "X"},
                                            {"scroll_pct", 40},
                                            {"seen_slugs", {"x"}}}));
  CHECK(reply.status == 200);
  CHECK(reply.header("content-type") == "text/event-stream");
  CHECK(reply.header("cache-control") == "no-cache");
  CHECK(reply.header("x-accel-buffering") == "no");
  CHECK(reply.header("x-content-type-options") == "nosniff");
  CHECK(reply.body.starts_with("event: ready\n"));
  CHECK(reply.event("ready")["session_id"] == kSession);
  CHECK(reply.event("ready")["visitor_id"] == kVisitor);
  CHECK(reply.event("cite")["slug"] == "philosophy-bounded-execution");
  CHECK(reply.event("done")["turns"] == 1);
  CHECK(reply.event("error").is_null());
}

TEST_CASE("every route of the OpenAPI document answers, and other methods get 405 with Allow") {
  for (const bool bot : {true, false}) {
    CAPTURE(bot);
    ServerFixture fixture;
    fixture.options.site.bot_enabled = bot;
    const Json document = fixture.ask(get("/openapi.json")).json();
    std::set<std::string> routes;
    for (const serve::HttpRoute& route : serve::http_routes())
      routes.insert(std::string(route.method) + " " + std::string(route.path));
    if (bot) CHECK(operations(document) == routes);
    for (const std::string& route : routes) {
      CAPTURE(route);
      const bool there = operations(document).contains(route);
      const std::string path = route.substr(route.find(' ') + 1);
      const HttpReply reply = fixture.ask(route.starts_with("GET") ? get(path) : post(path, "{}"));
      // /api/stoka/open without a slug is 404, too.
      CHECK((reply.status == 404) == (!there || path == "/api/stoka/open"));
      const HttpReply other = fixture.ask("DELETE " + path + " HTTP/1.1\r\nHost: x\r\n\r\n");
      CHECK(other.status == (there || path == "/" || path == "/stoka-terminal.js" ? 405 : 404));
      if (other.status == 405) {
        CHECK(other.header("allow").find(route.substr(0, route.find(' '))) != std::string::npos);
        CHECK(other.header("allow").ends_with(", OPTIONS"));
      }
      CHECK(other.header("connection") == "keep-alive");
    }
  }
}

TEST_CASE("an unknown path is answered with 404") {
  ServerFixture fixture;
  for (const char* path : {"/x", "/api", "/api/stoka/chat/", "/api/stoka/../../etc/passwd",
                           "/%2e%2e/etc/passwd", "//", "/API/stoka/chat", "/openapi.json/"}) {
    CAPTURE(std::string(path));
    const HttpReply reply = fixture.ask(get(path));
    CHECK(reply.status == 404);
    CHECK(reply.json()["code"] == "not_found");
  }
}

TEST_CASE("a disabled bot has no routes") {
  ServerFixture fixture;
  fixture.options.site.bot_enabled = false;
  fixture.options.site.cors = serve::Cors::make({"https://a.example"}).value();
  CHECK(fixture.ask(chat({{"query", "hello"}})).status == 404);
  CHECK(fixture.ask(get("/")).status == 404);
  CHECK(fixture.ask(get("/healthz")).status == 200);
  CHECK(fixture.ask(get("/readyz")).status == 200);
  const HttpReply preflight = fixture.ask(
      "OPTIONS /api/stoka/chat HTTP/1.1\r\nHost: x\r\nOrigin: https://a.example\r\n"
      "Access-Control-Request-Method: POST\r\n\r\n");
  CHECK(preflight.status == 404);
  CHECK(fixture.ask(get("/openapi.json")).body.find("/api/stoka") == std::string::npos);
}

TEST_CASE("an invalid body is answered with 400 and its field, and the connection stays open") {
  ServerFixture fixture;
  HttpConnection client = fixture.client();
  struct Case {
    std::string body;
    std::string field;
  };
  for (const Case& c : std::vector<Case>{{"", ""},
                                         {"{", ""},
                                         {"[]", ""},
                                         {R"({"query":"\ud800"})", ""},
                                         {"{\"query\":\"\xFF\"}", ""},
                                         {R"({"query":"a","query":"b"})", "query"},
                                         {R"({"qery":"a"})", "qery"},
                                         {R"({"query":1})", "query"},
                                         {R"({"query":""})", "query"},
                                         {R"({"query":"a","scroll_pct":101})", "scroll_pct"},
                                         {R"({"query":"a","session_id":"x"})", "session_id"}}) {
    CAPTURE(c.body);
    const HttpReply reply = client.ask(post("/api/stoka/chat", c.body));
    CHECK(reply.status == 400);
    CHECK(reply.header("content-type") == "application/problem+json");
    const Json problem = reply.json();
    CHECK(problem["code"] == "usage");
    CHECK(problem.value("field", "") == c.field);
    CHECK(problem["request_id"] == reply.header("x-request-id"));
    CHECK(reply.header("connection") == "keep-alive");
  }
  const std::string long_query(2001, 'a');
  CHECK(client.ask(chat({{"query", long_query}})).json()["field"] == "query");
  CHECK(client.ask(chat({{"query", "what is this?"}})).status == 200);
}

TEST_CASE("deeply nested JSON is refused") {
  ServerFixture fixture;
  fixture.options.limits.request.max_body_bytes = 1u << 20;
  for (const std::string& body :
       {std::string(200000, '[') + std::string(200000, ']'), std::string(200000, '['),
        R"({"query":)" + std::string(200000, '[') + std::string(200000, ']') + "}", [] {
          std::string out;
          for (int i = 0; i < 100000; ++i) out += R"({"a":)";
          return out + "1" + std::string(100000, '}');
        }()}) {
    const HttpReply reply = fixture.ask(post("/api/stoka/chat", body));
    CHECK(reply.status == 400);
    CHECK(reply.json()["detail"] == "the body is nested too deeply");
  }
  CHECK(fixture.ask(get("/healthz")).status == 200);
}

TEST_CASE("a body without the content type application/json is answered with 415") {
  ServerFixture fixture;
  const std::string body = Json{{"query", "what is this?"}}.dump();
  const auto ask = [&](const std::string& type) {
    return fixture.ask(
        fmt::format("POST /api/stoka/chat HTTP/1.1\r\nHost: x\r\nContent-Length: "
                    "{}\r\n{}\r\n{}",
                    body.size(), type, body));
  };
  for (const char* type : {"Content-Type: application/json\r\n",
                           "content-type:  Application/JSON ; charset=utf-8\r\n"})
    CHECK(ask(type).status == 200);
  // Forms and plain text need no preflight request, so any site could send them.
  for (const char* type :
       {"", "Content-Type: text/plain\r\n", "Content-Type: application/x-www-form-urlencoded\r\n",
        "Content-Type: text/plain; application/json\r\n", "Content-Type: application/jsonx\r\n"}) {
    CAPTURE(std::string(type));
    const HttpReply reply = ask(type);
    CHECK(reply.status == 415);
    CHECK(reply.json()["status"] == 415);
  }
}

TEST_CASE("an address above its rate limit gets 429 with Retry-After") {
  ServerFixture fixture;
  fixture.options.site.chat = {3, 300s};
  fixture.options.site.discover = {2, 300s};
  fixture.options.site.context = {1, 300s};
  const auto statuses = [&](const std::string& request, size_t count) {
    std::vector<int> out;
    for (size_t i = 0; i < count; ++i) out.push_back(fixture.ask(request).status);
    return out;
  };
  // Invalid requests count, and forwarding headers of an untrusted peer are ignored.
  CHECK(statuses(chat({{"query", "what is this?"}}), 2) == std::vector<int>{200, 200});
  CHECK(fixture.ask(post("/api/stoka/chat", "{", "X-Forwarded-For: 9.9.9.9\r\n")).status == 400);
  for (const char* forwarded : {"", "X-Forwarded-For: 1.2.3.4\r\n", "X-Real-IP: 1.2.3.4\r\n",
                                "Forwarded: for=1.2.3.4\r\n"}) {
    const HttpReply reply = fixture.ask(chat({{"query", "what is this?"}}, forwarded));
    CHECK(reply.status == 429);
    CHECK(reply.json()["code"] == "busy");
    const int wait = std::atoi(reply.header("retry-after").c_str());
    CHECK(wait > 0);
    CHECK(wait <= 300);
    CHECK(reply.header("ratelimit-limit") == "3");
    CHECK(reply.header("ratelimit-remaining") == "0");
  }
  CHECK(fixture.ask(post("/api/stoka/discover", "{", "")).header("ratelimit-remaining") == "1");
  CHECK(statuses(post("/api/stoka/discover", "{}"), 2) == std::vector<int>{200, 429});
  CHECK(fixture.ask(get(profile_of(kVisitor))).status == 429);
  CHECK(statuses(get("/api/stoka/context?page=/"), 2) == std::vector<int>{200, 429});
  CHECK(fixture.ask(get("/api/stoka/open?slug=x")).status == 429);
  CHECK(fixture.ask(get("/healthz")).status == 200);
  CHECK(fixture.ask(get("/healthz")).header("ratelimit-limit").empty());
  CHECK(fixture.metrics.rate_limited("/api/stoka/chat").value() == 4);
}

TEST_CASE("behind a trusted proxy each client has its own rate limit") {
  ServerFixture fixture;
  fixture.options.site.chat = {1, 300s};
  fixture.options.site.trusted_proxies =
      serve::NetworkSet::parse(std::vector<std::string>{"127.0.0.1"}).value();
  const auto status = [&](const std::string& forwarded) {
    return fixture.ask(chat({{"query", "what is this?"}}, "X-Forwarded-For: " + forwarded + "\r\n"))
        .status;
  };
  CHECK(status("1.1.1.1") == 200);
  CHECK(status("1.1.1.1") == 429);
  CHECK(status("2.2.2.2") == 200);
  // A hop that the client wrote is to the left of the one that the proxy added.
  CHECK(status("3.3.3.3, 1.1.1.1") == 429);
  CHECK(status("3.3.3.3\r\nX-Forwarded-For: 1.1.1.1") == 429);
  CHECK(status("2001:db8::1") == 200);
  CHECK(status("2001:db8::2") == 429);
  // A trailer is not used as a header.
  CHECK(fixture
            .ask("POST /api/stoka/chat HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                 "X-Forwarded-For: 1.1.1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
                 "2\r\n{}\r\n0\r\nX-Forwarded-For: 7.7.7.7\r\n\r\n")
            .status == 429);
}

TEST_CASE("metrics are in the Prometheus format and count requests") {
  ServerFixture fixture;
  fixture.ask(chat({{"query", "tell me about bounded execution"}}));
  fixture.ask(get("/nowhere"));
  fixture.ask("nonsense\r\n\r\n");
  const HttpReply reply = fixture.ask(get("/metrics"));
  CHECK(reply.header("content-type").starts_with("text/plain; version=0.0.4"));
  size_t samples = 0;
  CHECK(reply.body.ends_with("\n"));
  for (size_t at = 0; at < reply.body.size();) {
    const size_t end = reply.body.find('\n', at);
    const std::string line = reply.body.substr(at, end - at);
    CAPTURE(line);
    CHECK((line.starts_with("# HELP ") || line.starts_with("# TYPE ") || is_sample(line)));
    samples += !line.starts_with('#');
    at = end + 1;
  }
  CHECK(samples > 50);
  CHECK(fixture.metrics.requests("/api/stoka/chat", 200).value() == 1);
  CHECK(fixture.metrics.requests("other", 404).value() == 1);
  CHECK(fixture.metrics.requests("other", 400).value() == 1);
  CHECK(fixture.metrics.streams(serve::Metrics::StreamEnd::done).value() == 1);
}

TEST_CASE("request and trace ids are taken from the headers or made") {
  ServerFixture fixture;
  const std::string trace = "0af7651916cd43dd8448eb211c80319c";
  CHECK(fixture
            .ask(get("/healthz", "X-Request-Id: my-id.1\r\ntraceparent: 00-" + trace +
                                     "-b7ad6b7169203331-01\r\n"))
            .header("x-request-id") == "my-id.1");
  const std::string made =
      fixture.ask(get("/healthz", "X-Request-Id: <script>\r\n")).header("x-request-id");
  CHECK(is_uuid(made));
  CHECK(made != fixture.ask(get("/healthz")).header("x-request-id"));
  fixture.stop_now();
  const std::string text = fixture.log_text();
  const Json first = Json::parse(text.substr(0, text.find('\n')));
  CHECK(first["req_id"] == "my-id.1");
  CHECK(first["trace_id"] == trace);
  CHECK(first["span_id"] != "b7ad6b7169203331");
  CHECK(first["route"] == "/healthz");
  CHECK(first["status"] == 200);
}

TEST_CASE("the access log has no question, token, address or path") {
  ServerFixture fixture;
  with_tokens(fixture);
  const std::string canary = "canaryquestion";
  const std::string good = token(claims("canarysubject"));
  const std::string forwarded = "X-Forwarded-For: 203.0.113.77\r\n";
  const std::string headers = bearer(good) + forwarded;
  fixture.ask(chat({{"query", canary + " bounded execution"}}, headers));
  fixture.ask(chat({{"query", canary + std::string(2000, 'a')}}, headers));
  fixture.ask(chat({{"query", canary}, {"scroll_pct", canary}}, headers));
  fixture.ask(chat({{"query", canary}, {"session_id", canary}}, headers));
  fixture.ask(post("/api/stoka/chat", "{\"query\":\"" + canary, headers));
  fixture.ask(get("/" + canary + "?q=" + canary, bearer("canarytoken")));
  fixture.ask(get(profile_of(kVisitor), bearer("canarytoken." + good)));
  fixture.ask(get("/api/stoka/context?page=/" + canary));
  fixture.ask(get("/api/stoka/open?slug=" + canary));
  fixture.ask(canary + "\r\n\r\n");
  fixture.ask(get("/healthz", "X-Request-Id: " + canary + " x\r\ntraceparent: " + canary + "\r\n"));
  fixture.stop_now();
  const std::string text = fixture.log_text();
  CHECK(text.find("\"/api/stoka/chat\"") != std::string::npos);
  for (const char* secret : {"canary", "eyJ", "203.0.113.77", "127.0.0.1"}) {
    CAPTURE(std::string(secret));
    CHECK(text.find(secret) == std::string::npos);
  }
  CHECK(text.find(good.substr(good.rfind('.') + 1)) == std::string::npos);
  for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
    CHECK(Json::parse(text.substr(at, text.find('\n', at) - at), nullptr, false).is_object());
}

TEST_CASE("a session without its visitor id does not repeat citations") {
  ServerFixture fixture;
  const Json first = {{"query", "tell me about bounded execution"},
                      {"session_id", kSession},
                      {"visitor_id", kVisitor}};
  CHECK(fixture.ask(chat(first)).event("cite")["slug"] == "philosophy-bounded-execution");
  const HttpReply again =
      fixture.ask(chat({{"query", "tell me about bounded execution"}, {"session_id", kSession}}));
  CHECK(again.event("ready")["session_id"] == kSession);
  CHECK(again.body.find("\"slug\":\"philosophy-bounded-execution\"") == std::string::npos);
  // Another visitor with that session id gets a new session.
  const HttpReply other =
      fixture.ask(chat({{"query", "tell me about bounded execution"},
                        {"session_id", kSession},
                        {"visitor_id", "33333333-3333-4333-8333-333333333333"}}));
  CHECK(other.event("ready")["session_id"] != kSession);
  CHECK(other.event("cite")["slug"] == "philosophy-bounded-execution");
}

TEST_CASE("open redirects only to the page of the slug") {
  ServerFixture fixture;
  fixture.parts.settings.site_url = "https://site.example";
  const HttpReply reply = fixture.ask(get("/api/stoka/open?slug=philosophy-bounded-execution"));
  CHECK(reply.status == 302);
  CHECK(reply.header("location") == "https://site.example/blog/philosophy-bounded-execution");
  for (const char* slug : {"", "nothing", "//evil.example", "https://evil.example"})
    CHECK(fixture.ask(get("/api/stoka/open?slug=" + std::string(slug))).status == 404);
}

TEST_CASE("the response of context is cached for each page") {
  ServerFixture fixture;
  const std::string page = "/api/stoka/context?page=%2Fblog%2Fphilosophy-bounded-execution";
  const HttpReply first = fixture.ask(get(page));
  CHECK(first.status == 200);
  CHECK(fixture.ask(get(page)).body == first.body);
  CHECK(fixture.ask(get("/api/stoka/context")).json()["field"] == "page");
  CHECK(fixture.ask(get("/api/stoka/context?page=/" + std::string(2048, 'a'))).status == 400);
  CHECK(fixture.ask(get("/api/stoka/context?page=%00%FF%0d%0a")).status == 200);
}

TEST_CASE("the page has a content security policy and an ETag") {
  ServerFixture fixture;
  for (const char* path : {"/", "/stoka-terminal.js"}) {
    const HttpReply reply = fixture.ask(get(path));
    CHECK(reply.status == 200);
    const std::string tag = reply.header("etag");
    CHECK(tag.starts_with('"'));
    const HttpReply again = fixture.ask(get(path, "If-None-Match: " + tag + "\r\n"));
    CHECK(again.status == 304);
    CHECK(again.header("etag") == tag);
    CHECK(fixture.ask(get(path, "If-None-Match: \"x\"\r\n")).status == 200);
  }
  CHECK(fixture.ask(get("/")).header("content-security-policy").starts_with("default-src 'none'"));
}

TEST_CASE("a server without an index answers /healthz, and /readyz says that it is not ready") {
  ServerFixture fixture;
  fixture.parts.store = store::open("sqlite:" + (fixture.parts.folder.path / "none.db").string(),
                                    store::OpenMode::read_write)
                            .value();
  CHECK(fixture.ask(get("/healthz")).status == 200);
  const HttpReply reply = fixture.ask(get("/readyz"));
  CHECK(reply.status == 503);
  CHECK(reply.header("retry-after") == "5");
  CHECK(reply.json()["status"] == "not ready");
}

}  // namespace site_test
