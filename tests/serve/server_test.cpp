#include "serve/server.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "serve/scripted_generator.h"
#include "serve/server_fixture.h"

namespace server_test {

using namespace std::chrono_literals;
using namespace stoka;
using namespace stoka::testing;

namespace {

const Json kQuestion = {{"query", "tell me about bounded execution"}};

// Waits until the server has that many connections.
bool wait_for_connections(ServerFixture& fixture, int64_t count) {
  return eventually([&] { return fixture.metrics.connections.value() == count; });
}

}  // namespace

TEST_CASE("pipelined requests are answered in order on one connection") {
  ServerFixture fixture;
  HttpConnection client = fixture.client();
  for (int i = 0; i < 3; ++i) {
    const HttpReply reply = client.ask(get("/healthz"));
    CHECK(reply.status == 200);
    CHECK(reply.header("connection") == "keep-alive");
    CHECK(reply.header("content-length") == std::to_string(reply.body.size()));
    CHECK(reply.header("server") == "stoka");
    CHECK(reply.json() == Json{{"status", "ok"}});
  }
  // Fast and slow requests are answered in the order in which they were sent.
  std::string all;
  const std::vector<std::pair<std::string, int>> asked = {
      {get("/readyz"), 200},
      {get("/nowhere"), 404},
      {chat(kQuestion), 200},
      {get("/api/stoka/context?page=/"), 200},
      {post("/api/stoka/discover", "{}"), 200},
      {post("/api/stoka/discover", "{"), 400},
      {get("/healthz"), 200},
  };
  for (const auto& [request, status] : asked) all += request;
  client.send(all);
  std::vector<HttpReply> replies;
  for (const auto& [request, status] : asked) {
    CAPTURE(request);
    replies.push_back(client.reply());
    CHECK(replies.back().status == status);
  }
  CHECK(replies[2].header("content-type") == "text/event-stream");
  CHECK(replies[2].event("done")["turns"] == 1);
  CHECK(replies[3].json().contains("hint"));
  CHECK(replies[4].json().contains("recommendations"));
  CHECK(replies[6].json() == Json{{"status", "ok"}});
}

TEST_CASE("a request may arrive byte by byte") {
  ServerFixture fixture;
  HttpConnection client = fixture.client();
  const std::string bytes = chat({{"query", "what is this?"}}) + get("/healthz");
  for (const char c : bytes) client.send(std::string_view(&c, 1));
  CHECK(client.reply().event("ready")["route"] == "meta");
  CHECK(client.reply().status == 200);
}

TEST_CASE("a body may be chunked") {
  ServerFixture fixture;
  HttpConnection client = fixture.client();
  const std::string body = Json{{"query", "what is this?"}}.dump();
  std::string request =
      "POST /api/stoka/chat HTTP/1.1\r\nHost: x\r\nContent-Type: application/json; "
      "charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const char c : body) request += fmt::format("1;x=y\r\n{}\r\n", c);
  const HttpReply reply = client.ask(request + "0\r\nContent-Type: text/plain\r\n\r\n");
  CHECK(reply.status == 200);
  CHECK(reply.event("ready")["route"] == "meta");
  CHECK(client.ask(get("/healthz")).status == 200);
}

TEST_CASE("Expect: 100-continue is answered unless the body is too large") {
  ServerFixture fixture;
  const std::string body = Json{{"query", "what is this?"}}.dump();
  HttpConnection client = fixture.client();
  client.send(post("/api/stoka/chat", body, "Expect: 100-continue\r\n")
                  .substr(0, post("/api/stoka/chat", body, "Expect: 100-continue\r\n").size() -
                                 body.size()));
  CHECK(client.reply().status == 100);
  client.send(body);
  CHECK(client.reply().status == 200);

  HttpConnection large = fixture.client();
  large.send(
      "POST /api/stoka/chat HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: "
      "1000000\r\n\r\n");
  CHECK(large.reply().status == 413);
  CHECK(large.is_closed());
}

TEST_CASE("HEAD is answered like GET, without the body") {
  ServerFixture fixture;
  HttpConnection client = fixture.client();
  for (const char* path :
       {"/", "/stoka-terminal.js", "/healthz", "/openapi.json", "/api/stoka/context?page=/"}) {
    CAPTURE(std::string(path));
    std::string request = get(path);
    const HttpReply whole = client.ask(request);
    client.send(request.replace(0, 3, "HEAD"));
    const HttpReply head = client.reply(true);
    CHECK(head.status == 200);
    CHECK(head.header("content-length") == whole.header("content-length"));
    CHECK(head.header("content-type") == whole.header("content-type"));
    CHECK(std::stoul(head.header("content-length")) > 10);
  }
  // No body was sent that would be read as the next response.
  CHECK(client.ask(get("/healthz")).json() == Json{{"status", "ok"}});
}

TEST_CASE("a response to HTTP/1.0 ends with the connection, or has Content-Length") {
  ServerFixture fixture;
  HttpConnection plain = fixture.client();
  plain.send("GET /healthz HTTP/1.0\r\n\r\n");
  CHECK(plain.reply().header("connection") == "close");
  CHECK(plain.is_closed());

  HttpConnection kept = fixture.client();
  for (int i = 0; i < 2; ++i)
    CHECK(kept.ask("GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").status == 200);

  HttpConnection stream = fixture.client();
  std::string request = chat(kQuestion, "Connection: keep-alive\r\n");
  request.replace(request.find("HTTP/1.1"), 8, "HTTP/1.0");
  const HttpReply reply = stream.ask(request);
  CHECK(reply.header("transfer-encoding").empty());
  CHECK(reply.header("connection") == "close");
  CHECK(reply.event("done")["turns"] == 1);
}

TEST_CASE("Connection: close is honoured, also after a stream") {
  ServerFixture fixture;
  for (const std::string& request :
       {get("/healthz", "Connection: close\r\n"), chat(kQuestion, "Connection: close\r\n")}) {
    HttpConnection client = fixture.client();
    client.send(request + get("/healthz"));
    CHECK(client.reply().status == 200);
    CHECK(client.is_closed());
  }
}

TEST_CASE("after an invalid request nothing more is answered") {
  ServerFixture fixture;
  const std::string smuggled = get("/metrics");
  const std::vector<std::pair<std::string, int>> broken = {
      {"POST /api/stoka/chat HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n", 501},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
       "\r\n",
       400},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc", 400},
      {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nz\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n\r\n", 400},
      {"GET /" + std::string(9000, 'a') + " HTTP/1.1\r\nHost: x\r\n\r\n", 414},
      {"GET / HTTP/1.1\r\nA: " + std::string(9000, 'a') + "\r\n\r\n", 431},
      {"POST /api/stoka/chat HTTP/1.1\r\nHost: x\r\nContent-Length: 65537\r\n\r\n", 413},
      {"GET / HTTP/2.0\r\nHost: x\r\n\r\n", 505},
      {"hello\r\n\r\n", 400},
  };
  for (const auto& [request, status] : broken) {
    CAPTURE(request);
    HttpConnection client = fixture.client();
    client.send(get("/healthz") + request + smuggled);
    CHECK(client.reply().status == 200);
    const HttpReply reply = client.reply();
    CHECK(reply.status == status);
    CHECK(reply.header("connection") == "close");
    CHECK(reply.header("content-type") == "application/problem+json");
    CHECK(reply.json()["status"] == status);
    CHECK(client.is_closed());
  }
  CHECK(fixture.ask(get("/healthz")).status == 200);
}

TEST_CASE("slow clients are disconnected, and others are served") {
  ServerFixture fixture;
  fixture.options.limits.head_timeout = 1s;
  fixture.options.limits.body_timeout = 1s;
  fixture.options.limits.idle_timeout = 1s;
  fixture.options.limits.write_timeout = 1s;
  HttpConnection in_head = fixture.client();
  HttpConnection in_body = fixture.client();
  HttpConnection idle = fixture.client();
  HttpConnection silent = fixture.client();
  HttpConnection deaf = fixture.client(4096);
  CHECK(idle.ask(get("/healthz")).status == 200);
  in_body.send("POST /api/stoka/chat HTTP/1.1\r\nHost: x\r\nContent-Length: 3000\r\n\r\n{");
  in_head.send("GET / HT");
  // This client sends requests and reads nothing: its backlog is bounded.
  std::string many;
  for (int i = 0; i < 200; ++i) many += get("/stoka-terminal.js");
  std::thread asking([&] {
    while (deaf.send(many)) {
    }
  });
  // Single bytes do not extend the timeout of the head or body.
  std::thread trickling([&] {
    for (int i = 0; i < 400 && in_head.send("a") && in_body.send(" "); ++i)
      std::this_thread::sleep_for(50ms);
  });
  CHECK(in_head.reply().status == 408);
  CHECK(in_body.reply().status == 408);
  CHECK(idle.is_closed());
  CHECK(silent.is_closed());
  asking.join();
  trickling.join();
  CHECK(fixture.ask(get("/healthz")).status == 200);
}

TEST_CASE("a slow reader gets all responses") {
  ServerFixture fixture;
  const size_t length = fixture.ask(get("/stoka-terminal.js")).body.size();
  HttpConnection client = fixture.client(4096);
  std::string many;
  for (int i = 0; i < 100; ++i) many += get("/stoka-terminal.js");
  client.send(many);
  CHECK(fixture.ask(get("/healthz")).status == 200);
  for (int i = 0; i < 100; ++i) REQUIRE(client.reply().body.size() == length);
  CHECK(client.ask(get("/healthz")).status == 200);
}

TEST_CASE("a client that has shut down its writing side still gets its response") {
  ServerFixture fixture;
  HttpConnection client = fixture.client();
  client.send(get("/stoka-terminal.js"));
  client.finish();
  CHECK(client.reply().status == 200);
  CHECK(client.is_closed());
  CHECK(wait_for_connections(fixture, 0));
}

TEST_CASE("a disconnect frees the generator, and the streamed part is saved") {
  ServerFixture fixture;
  ScriptedGenerator& generator = fixture.use_scripted_generator();
  const std::string session = "11111111-1111-4111-8111-111111111111";
  Json body = kQuestion;
  body["session_id"] = session;
  {
    HttpConnection client = fixture.client();
    client.send(chat(body));
    REQUIRE(generator.say("limits are what a program promises to itself. "));
    REQUIRE(client.receives("event: token"));
  }
  CHECK(generator.wait_until_closed(1));
  CHECK(wait_for_connections(fixture, 0));
  fixture.stop_now();
  const auto kept = fixture.parts.store->session(session).value();
  REQUIRE(kept.has_value());
  CHECK(kept->turns == 1);
  REQUIRE(kept->exchanges.size() == 1);
  CHECK(kept->exchanges[0].assistant.ends_with("[cut off]"));
  CHECK(fixture.metrics.open_streams.value() == 0);
  CHECK(fixture.metrics.streams(serve::Metrics::StreamEnd::client_left).value() == 1);
  CHECK(fixture.log_text().find(R"("end":"left")") != std::string::npos);
}

TEST_CASE("if the client disconnects before the first event, no turn is stored") {
  ServerFixture fixture;
  ScriptedGenerator& generator = fixture.use_scripted_generator();
  for (int i = 0; i < 20; ++i) {
    HttpConnection client = fixture.client();
    client.send(chat(kQuestion));
    if (i % 4 == 1) client.send("GET");
    if (i % 4 == 2) generator.wait_until_open(1);
    if (i % 4 == 3) client.finish();
  }
  CHECK(wait_for_connections(fixture, 0));
  fixture.stop_now();
  CHECK(fixture.metrics.open_streams.value() == 0);
}

TEST_CASE("tokens are sent as they are generated") {
  ServerFixture fixture;
  ScriptedGenerator& generator = fixture.use_scripted_generator();
  HttpConnection client = fixture.client();
  client.send(chat(kQuestion));
  REQUIRE(client.receives("event: ready"));
  REQUIRE(generator.say("limits are what a program promises to itself. "));
  REQUIRE(client.receives("limits"));
  REQUIRE(generator.say("they hold when nobody looks. "));
  REQUIRE(client.receives("nobody"));
  REQUIRE(generator.finish());
  CHECK(client.receives("event: done"));
  CHECK(client.receives("\r\n0\r\n\r\n"));
  CHECK(generator.wait_until_closed(1));
}

TEST_CASE("too many pipelined bytes during a response close the connection") {
  ServerFixture fixture;
  ScriptedGenerator& generator = fixture.use_scripted_generator();
  HttpConnection client = fixture.client();
  client.send(chat(kQuestion));
  REQUIRE(client.receives("event: ready"));
  const std::string junk(100000, 'x');
  for (int i = 0; i < 100 && client.send(junk); ++i) {
  }
  CHECK(generator.wait_until_closed(1));
  CHECK(wait_for_connections(fixture, 0));
}

TEST_CASE("at the connection limit further clients wait") {
  ServerFixture fixture;
  ScriptedGenerator& generator = fixture.use_scripted_generator();
  fixture.options.max_connections = 2;
  HttpConnection first = fixture.client();
  HttpConnection second = fixture.client();
  first.send(chat(kQuestion));
  REQUIRE(first.receives("event: ready"));
  second.send(chat(kQuestion));
  REQUIRE(second.receives("event: ready"));
  HttpConnection third = fixture.client();
  third.send(get("/healthz"));
  REQUIRE(generator.say("limits are what a program promises to itself. "));
  REQUIRE(second.receives("event: token"));
  CHECK(fixture.metrics.connections.value() == 2);
  second.disconnect();
  CHECK(third.reply().status == 200);
}

TEST_CASE("at the connection limit the longest idle connection is closed") {
  ServerFixture fixture;
  fixture.options.max_connections = 2;
  HttpConnection first = fixture.client();
  CHECK(first.ask(get("/healthz")).status == 200);
  HttpConnection second = fixture.client();
  CHECK(second.ask(get("/healthz")).status == 200);
  HttpConnection third = fixture.client();
  CHECK(third.ask(get("/healthz")).status == 200);
  CHECK(first.is_closed());
  CHECK(third.ask(get("/healthz")).status == 200);
}

TEST_CASE("without file descriptors the server waits, and warns once") {
  ServerFixture fixture;
  HttpConnection first = fixture.client();
  CHECK(first.ask(get("/healthz")).status == 200);
  std::vector<HttpConnection> waiting;
  for (int i = 0; i < 3; ++i) {
    // Leaves one descriptor, which the client takes, and none for the server.
    rlimit before{};
    ::getrlimit(RLIMIT_NOFILE, &before);
    const int free = ::dup(0);
    ::close(free);
    rlimit none = before;
    none.rlim_cur = static_cast<rlim_t>(free) + 1;
    ::setrlimit(RLIMIT_NOFILE, &none);
    waiting.emplace_back(fixture.port());
    waiting.back().send(get("/healthz"));
    const auto end = std::chrono::steady_clock::now() + 20s;
    while (fixture.log_text().find("no file descriptors left") == std::string::npos &&
           std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(1ms);
    ::setrlimit(RLIMIT_NOFILE, &before);
    CHECK(waiting.back().reply().status == 200);
  }
  const std::string text = fixture.log_text();
  const size_t told = text.find("no file descriptors left");
  REQUIRE(told != std::string::npos);
  CHECK(text.find("no file descriptors left", told + 1) == std::string::npos);
}

TEST_CASE("stop lets responses end and closes idle connections") {
  ServerFixture fixture;
  ScriptedGenerator& generator = fixture.use_scripted_generator();
  HttpConnection idle = fixture.client();
  HttpConnection asking = fixture.client();
  HttpConnection streaming = fixture.client();
  CHECK(idle.ask(get("/healthz")).status == 200);
  asking.send("GET /readyz HTTP/1.1\r\n");
  streaming.send(chat(kQuestion));
  REQUIRE(streaming.receives("event: ready"));
  fixture.stop();
  CHECK(idle.is_closed());
  asking.send("Host: x\r\n\r\n");
  const HttpReply reply = asking.reply();
  CHECK(reply.status == 503);
  CHECK(reply.json()["status"] == "not ready");
  CHECK(reply.header("connection") == "close");
  CHECK(asking.is_closed());
  CHECK_FALSE(HttpConnection(fixture.port()).connected());
  REQUIRE(generator.say("limits are what a program promises to itself. "));
  REQUIRE(generator.finish());
  CHECK(streaming.rest().find("event: done") != std::string::npos);
  for (HttpConnection* const client : {&idle, &asking, &streaming}) client->disconnect();
  fixture.join();
}

TEST_CASE("after the grace time a stream ends with an error event, and the turn is saved") {
  ServerFixture fixture;
  fixture.options.shutdown_grace = 10ms;
  ScriptedGenerator& generator = fixture.use_scripted_generator();
  HttpConnection client = fixture.client();
  client.send(chat(kQuestion));
  REQUIRE(generator.say("limits are what a program promises to itself. "));
  REQUIRE(client.receives("event: token"));
  fixture.stop();
  const std::string rest = client.rest();
  CHECK(rest.find("event: error") != std::string::npos);
  CHECK(rest.find("event: done") == std::string::npos);
  client.disconnect();
  fixture.join();
  CHECK(fixture.metrics.streams(serve::Metrics::StreamEnd::error).value() == 1);
}

TEST_CASE("a second stop closes all connections at once") {
  ServerFixture fixture;
  ScriptedGenerator& generator = fixture.use_scripted_generator();
  HttpConnection client = fixture.client();
  client.send(chat(kQuestion));
  REQUIRE(client.receives("event: ready"));
  fixture.stop();
  fixture.stop();
  fixture.join();
  CHECK(generator.wait_until_closed(1));
  fixture.stop();
}

TEST_CASE("an address in use gives a config error") {
  ServerFixture fixture;
  ServerFixture second;
  second.options.port = fixture.port();
  pipeline::Engine& engine = second.parts.engine();
  const auto taken = serve::Server::listen(engine, second.log, second.metrics, second.options);
  REQUIRE_FALSE(taken.has_value());
  CHECK(taken.error().kind == ErrorKind::config);
  CHECK(taken.error().message.find(std::to_string(fixture.port())) != std::string::npos);
  CHECK_FALSE(taken.error().hint.empty());
  second.options.host = "no host at all";
  CHECK_FALSE(
      serve::Server::listen(engine, second.log, second.metrics, second.options).has_value());
}

}  // namespace server_test
