#include "serve/server.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "serve/site_house.h"

namespace server_test {

using namespace std::chrono_literals;
using namespace stoka;
using namespace stoka::test;

namespace {

const Json kQuestion = {{"query", "tell me about bounded execution"}};

// Until that many are served.
bool wait_for_connections(SiteHouse& house, int64_t count) {
  const auto end = std::chrono::steady_clock::now() + 20s;
  while (house.metrics.connections.value() != count) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

}  // namespace

TEST_CASE("one connection serves one request after the other, in order") {
  SiteHouse house;
  RawClient client = house.client();
  for (int i = 0; i < 3; ++i) {
    const Reply reply = client.ask(get("/healthz"));
    CHECK(reply.status == 200);
    CHECK(reply.header("connection") == "keep-alive");
    CHECK(reply.header("content-length") == std::to_string(reply.body.size()));
    CHECK(reply.header("server") == "stoka");
    CHECK(reply.json() == Json{{"status", "ok"}});
  }
  // Quick ones and slow ones: answered in the order in which they were asked.
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
  std::vector<Reply> replies;
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

TEST_CASE("a request may come byte by byte, and after another") {
  SiteHouse house;
  RawClient client = house.client();
  const std::string bytes = chat({{"query", "what is this?"}}) + get("/healthz");
  for (const char c : bytes) client.send(std::string_view(&c, 1));
  CHECK(client.reply().event("ready")["route"] == "meta");
  CHECK(client.reply().status == 200);
}

TEST_CASE("a body may come in chunks") {
  SiteHouse house;
  RawClient client = house.client();
  const std::string body = Json{{"query", "what is this?"}}.dump();
  std::string request =
      "POST /api/stoka/chat HTTP/1.1\r\nHost: x\r\nContent-Type: application/json; "
      "charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const char c : body) request += fmt::format("1;x=y\r\n{}\r\n", c);
  const Reply reply = client.ask(request + "0\r\nContent-Type: text/plain\r\n\r\n");
  CHECK(reply.status == 200);
  CHECK(reply.event("ready")["route"] == "meta");
  CHECK(client.ask(get("/healthz")).status == 200);
}

TEST_CASE("who asks whether to go on is told, unless there is no use in it") {
  SiteHouse house;
  const std::string body = Json{{"query", "what is this?"}}.dump();
  RawClient client = house.client();
  client.send(post("/api/stoka/chat", body, "Expect: 100-continue\r\n")
                  .substr(0, post("/api/stoka/chat", body, "Expect: 100-continue\r\n").size() -
                                 body.size()));
  CHECK(client.reply().status == 100);
  client.send(body);
  CHECK(client.reply().status == 200);

  RawClient large = house.client();
  large.send(
      "POST /api/stoka/chat HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: "
      "1000000\r\n\r\n");
  CHECK(large.reply().status == 413);
  CHECK(large.is_closed());
}

TEST_CASE("HEAD is answered like GET, without the body") {
  SiteHouse house;
  RawClient client = house.client();
  for (const char* path :
       {"/", "/stoka-terminal.js", "/healthz", "/openapi.json", "/api/stoka/context?page=/"}) {
    CAPTURE(std::string(path));
    std::string request = get(path);
    const Reply whole = client.ask(request);
    client.send(request.replace(0, 3, "HEAD"));
    const Reply head = client.reply(true);
    CHECK(head.status == 200);
    CHECK(head.header("content-length") == whole.header("content-length"));
    CHECK(head.header("content-type") == whole.header("content-type"));
    CHECK(std::stoul(head.header("content-length")) > 10);
  }
  // Nothing came that would be read as an answer.
  CHECK(client.ask(get("/healthz")).json() == Json{{"status", "ok"}});
}

TEST_CASE("HTTP/1.0 gets its answer, and the end of it by the end of the connection") {
  SiteHouse house;
  RawClient plain = house.client();
  plain.send("GET /healthz HTTP/1.0\r\n\r\n");
  CHECK(plain.reply().header("connection") == "close");
  CHECK(plain.is_closed());

  RawClient kept = house.client();
  for (int i = 0; i < 2; ++i)
    CHECK(kept.ask("GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").status == 200);

  RawClient stream = house.client();
  std::string request = chat(kQuestion, "Connection: keep-alive\r\n");
  request.replace(request.find("HTTP/1.1"), 8, "HTTP/1.0");
  const Reply reply = stream.ask(request);
  CHECK(reply.header("transfer-encoding").empty());
  CHECK(reply.header("connection") == "close");
  CHECK(reply.event("done")["turns"] == 1);
}

TEST_CASE("Connection: close is done as said, also after a stream") {
  SiteHouse house;
  for (const std::string& request :
       {get("/healthz", "Connection: close\r\n"), chat(kQuestion, "Connection: close\r\n")}) {
    RawClient client = house.client();
    client.send(request + get("/healthz"));
    CHECK(client.reply().status == 200);
    CHECK(client.is_closed());
  }
}

TEST_CASE("after a request that is broken nothing is answered any more") {
  SiteHouse house;
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
    RawClient client = house.client();
    client.send(get("/healthz") + request + smuggled);
    CHECK(client.reply().status == 200);
    const Reply reply = client.reply();
    CHECK(reply.status == status);
    CHECK(reply.header("connection") == "close");
    CHECK(reply.header("content-type") == "application/problem+json");
    CHECK(reply.json()["status"] == status);
    CHECK(client.is_closed());
  }
  CHECK(house.ask(get("/healthz")).status == 200);
}

TEST_CASE("who is too slow in asking, or in reading, is cut; all others are served") {
  SiteHouse house;
  house.options.limits.head = 1s;
  house.options.limits.body = 1s;
  house.options.limits.idle = 1s;
  house.options.limits.slow = 1s;
  RawClient in_head = house.client();
  RawClient in_body = house.client();
  RawClient idle = house.client();
  RawClient silent = house.client();
  RawClient deaf = house.client(4096);
  CHECK(idle.ask(get("/healthz")).status == 200);
  in_body.send("POST /api/stoka/chat HTTP/1.1\r\nHost: x\r\nContent-Length: 3000\r\n\r\n{");
  in_head.send("GET / HT");
  // Asks and asks, and reads nothing: what is kept for it has a limit.
  std::string many;
  for (int i = 0; i < 200; ++i) many += get("/stoka-terminal.js");
  std::thread asking([&] {
    while (deaf.send(many)) {
    }
  });
  // Bytes that trickle in do not make the time for the whole longer.
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
  CHECK(house.ask(get("/healthz")).status == 200);
}

TEST_CASE("who reads slowly gets everything that was asked") {
  SiteHouse house;
  const size_t length = house.ask(get("/stoka-terminal.js")).body.size();
  RawClient client = house.client(4096);
  std::string many;
  for (int i = 0; i < 100; ++i) many += get("/stoka-terminal.js");
  client.send(many);
  CHECK(house.ask(get("/healthz")).status == 200);
  for (int i = 0; i < 100; ++i) REQUIRE(client.reply().body.size() == length);
  CHECK(client.ask(get("/healthz")).status == 200);
}

TEST_CASE("a client that sends no more still gets the answer that is there at once") {
  SiteHouse house;
  RawClient client = house.client();
  client.send(get("/stoka-terminal.js"));
  client.finish();
  CHECK(client.reply().status == 200);
  CHECK(client.is_closed());
  CHECK(wait_for_connections(house, 0));
}

TEST_CASE("a visitor who leaves frees the generator, and what was said is kept") {
  SiteHouse house;
  Faucet& faucet = house.faucet();
  const std::string session = "11111111-1111-4111-8111-111111111111";
  Json body = kQuestion;
  body["session_id"] = session;
  {
    RawClient client = house.client();
    client.send(chat(body));
    REQUIRE(faucet.say("limits are what a program promises to itself. "));
    REQUIRE(client.hears("event: token"));
  }
  CHECK(faucet.wait_until_closed(1));
  CHECK(wait_for_connections(house, 0));
  house.stop_now();
  const auto kept = house.house.store->session(session).value();
  REQUIRE(kept.has_value());
  CHECK(kept->turns == 1);
  REQUIRE(kept->exchanges.size() == 1);
  CHECK(kept->exchanges[0].assistant.ends_with("[cut off]"));
  CHECK(house.metrics.open_streams.value() == 0);
  CHECK(house.metrics.streams(serve::Metrics::End::left).value() == 1);
  CHECK(house.journal_text().find(R"("end":"left")") != std::string::npos);
}

TEST_CASE("a visitor who leaves before the first word leaves nothing behind") {
  SiteHouse house;
  Faucet& faucet = house.faucet();
  for (int i = 0; i < 20; ++i) {
    RawClient client = house.client();
    client.send(chat(kQuestion));
    if (i % 4 == 1) client.send("GET");
    if (i % 4 == 2) faucet.wait_until_open(1);
    if (i % 4 == 3) client.finish();
  }
  CHECK(wait_for_connections(house, 0));
  house.stop_now();
  CHECK(house.metrics.open_streams.value() == 0);
}

TEST_CASE("tokens come as they are written") {
  SiteHouse house;
  Faucet& faucet = house.faucet();
  RawClient client = house.client();
  client.send(chat(kQuestion));
  REQUIRE(client.hears("event: ready"));
  REQUIRE(faucet.say("limits are what a program promises to itself. "));
  REQUIRE(client.hears("limits"));
  REQUIRE(faucet.say("they hold when nobody looks. "));
  REQUIRE(client.hears("nobody"));
  REQUIRE(faucet.finish());
  CHECK(client.hears("event: done"));
  CHECK(client.hears("\r\n0\r\n\r\n"));
  CHECK(faucet.wait_until_closed(1));
}

TEST_CASE("a pipelined flood during an answer is cut off") {
  SiteHouse house;
  Faucet& faucet = house.faucet();
  RawClient client = house.client();
  client.send(chat(kQuestion));
  REQUIRE(client.hears("event: ready"));
  const std::string junk(100000, 'x');
  for (int i = 0; i < 100 && client.send(junk); ++i) {
  }
  CHECK(faucet.wait_until_closed(1));
  CHECK(wait_for_connections(house, 0));
}

TEST_CASE("at the limit of connections others wait until one is free") {
  SiteHouse house;
  Faucet& faucet = house.faucet();
  house.options.connections = 2;
  RawClient first = house.client();
  RawClient second = house.client();
  first.send(chat(kQuestion));
  REQUIRE(first.hears("event: ready"));
  second.send(chat(kQuestion));
  REQUIRE(second.hears("event: ready"));
  RawClient third = house.client();
  third.send(get("/healthz"));
  REQUIRE(faucet.say("limits are what a program promises to itself. "));
  REQUIRE(second.hears("event: token"));
  CHECK(house.metrics.connections.value() == 2);
  second.leave();
  CHECK(third.reply().status == 200);
}

TEST_CASE("at the limit of connections the one that has been silent longest makes room") {
  SiteHouse house;
  house.options.connections = 2;
  RawClient first = house.client();
  CHECK(first.ask(get("/healthz")).status == 200);
  RawClient second = house.client();
  CHECK(second.ask(get("/healthz")).status == 200);
  RawClient third = house.client();
  CHECK(third.ask(get("/healthz")).status == 200);
  CHECK(first.is_closed());
  CHECK(third.ask(get("/healthz")).status == 200);
}

TEST_CASE("without descriptors the server waits, and says so once") {
  SiteHouse house;
  RawClient first = house.client();
  CHECK(first.ask(get("/healthz")).status == 200);
  std::vector<RawClient> waiting;
  for (int i = 0; i < 3; ++i) {
    // A socket of our own first, then no more for anybody.
    rlimit before{};
    ::getrlimit(RLIMIT_NOFILE, &before);
    const int free = ::dup(0);
    ::close(free);
    rlimit none = before;
    none.rlim_cur = static_cast<rlim_t>(free) + 1;
    ::setrlimit(RLIMIT_NOFILE, &none);
    waiting.emplace_back(house.port());
    waiting.back().send(get("/healthz"));
    const auto end = std::chrono::steady_clock::now() + 20s;
    while (house.journal_text().find("no more descriptors") == std::string::npos &&
           std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(1ms);
    ::setrlimit(RLIMIT_NOFILE, &before);
    CHECK(waiting.back().reply().status == 200);
  }
  const std::string text = house.journal_text();
  const size_t told = text.find("no more descriptors");
  REQUIRE(told != std::string::npos);
  CHECK(text.find("no more descriptors", told + 1) == std::string::npos);
}

TEST_CASE("a server that stops lets answers come to their end, and closes what is idle") {
  SiteHouse house;
  Faucet& faucet = house.faucet();
  RawClient idle = house.client();
  RawClient asking = house.client();
  RawClient streaming = house.client();
  CHECK(idle.ask(get("/healthz")).status == 200);
  asking.send("GET /readyz HTTP/1.1\r\n");
  streaming.send(chat(kQuestion));
  REQUIRE(streaming.hears("event: ready"));
  house.stop();
  CHECK(idle.is_closed());
  asking.send("Host: x\r\n\r\n");
  const Reply reply = asking.reply();
  CHECK(reply.status == 503);
  CHECK(reply.json()["status"] == "not ready");
  CHECK(reply.header("connection") == "close");
  CHECK(asking.is_closed());
  CHECK_FALSE(RawClient(house.port()).connected());
  REQUIRE(faucet.say("limits are what a program promises to itself. "));
  REQUIRE(faucet.finish());
  CHECK(streaming.rest().find("event: done") != std::string::npos);
  for (RawClient* const client : {&idle, &asking, &streaming}) client->leave();
  house.join();
}

TEST_CASE("after the grace time a stream ends with an error event, and is kept") {
  SiteHouse house;
  house.options.grace = 10ms;
  Faucet& faucet = house.faucet();
  RawClient client = house.client();
  client.send(chat(kQuestion));
  REQUIRE(faucet.say("limits are what a program promises to itself. "));
  REQUIRE(client.hears("event: token"));
  house.stop();
  const std::string rest = client.rest();
  CHECK(rest.find("event: error") != std::string::npos);
  CHECK(rest.find("event: done") == std::string::npos);
  client.leave();
  house.join();
  CHECK(house.metrics.streams(serve::Metrics::End::error).value() == 1);
}

TEST_CASE("a second stop ends everything at once") {
  SiteHouse house;
  Faucet& faucet = house.faucet();
  RawClient client = house.client();
  client.send(chat(kQuestion));
  REQUIRE(client.hears("event: ready"));
  house.stop();
  house.stop();
  house.join();
  CHECK(faucet.wait_until_closed(1));
  house.stop();
}

TEST_CASE("who cannot listen is told why") {
  SiteHouse house;
  SiteHouse second;
  second.options.port = house.port();
  pipeline::Engine& engine = second.house.engine();
  const auto taken = serve::Server::listen(engine, second.journal, second.metrics, second.options);
  REQUIRE_FALSE(taken.has_value());
  CHECK(taken.error().kind == ErrorKind::config);
  CHECK(taken.error().message.find(std::to_string(house.port())) != std::string::npos);
  CHECK_FALSE(taken.error().hint.empty());
  second.options.host = "no host at all";
  CHECK_FALSE(
      serve::Server::listen(engine, second.journal, second.metrics, second.options).has_value());
}

}  // namespace server_test
