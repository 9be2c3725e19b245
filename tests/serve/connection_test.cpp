#include "serve/connection.h"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace connection_test {

using namespace std::chrono_literals;
using namespace stoka;
using namespace stoka::serve;

namespace {

// A pending response that records its calls.
struct TestResponse final : PendingResponse {
  ResponseWriter* writer = nullptr;
  int disconnects = 0, drains = 0, ticks = 0, shutdowns = 0;
  std::function<void()> tick_callback, shutdown_callback;

  void on_disconnect() override {
    ++disconnects;
    writer = nullptr;
  }
  void on_drained() override { ++drains; }
  void tick(std::chrono::steady_clock::time_point) override {
    ++ticks;
    if (tick_callback) tick_callback();
  }
  void on_shutdown() override {
    ++shutdowns;
    if (shutdown_callback) shutdown_callback();
  }
};

// Responds with the path; to /later… only when the test does so.
struct TestHandler final : Handler {
  std::vector<std::string> paths;
  std::shared_ptr<TestResponse> slow;
  std::string padding;  // of every body

  std::shared_ptr<PendingResponse> handle(HttpRequest request, ResponseWriter& writer) override {
    paths.push_back(request.path);
    if (request.path.starts_with("/later")) {
      slow = std::make_shared<TestResponse>();
      slow->writer = &writer;
      return slow;
    }
    writer.respond({.body = request.path + padding});
    return nullptr;
  }
  HttpResponse refuse(const HttpRequest&, int status, std::string_view why,
                      std::string_view) override {
    return {.status = status, .body = std::string(why), .close = true};
  }
};

struct ConnectionFixture {
  net::EventLoop loop;
  TestHandler handler;
  int client = -1;
  int closed = 0;
  std::unique_ptr<Connection> connection;
  std::string received;  // by the client

  explicit ConnectionFixture(ConnectionLimits limits = {}) {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
    client = ends[0];
    connection = std::make_unique<Connection>(loop, ends[1], IpAddress(), handler, limits,
                                              [this] { ++closed; });
  }
  ~ConnectionFixture() { disconnect(); }

  void disconnect() {
    if (const int fd = std::exchange(client, -1); fd >= 0) ::close(fd);
  }
  void send(std::string_view bytes) {
    REQUIRE(::send(client, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(bytes.size()));
  }
  void run(int rounds = 6) {
    net::EventLoop::Timer tick;
    std::function<void()> again = [&] { tick = loop.after(net::Milliseconds(0), again); };
    again();
    loop.run_until([&] { return rounds-- <= 0; }, {});
  }
  // Reads everything that is available without running the loop.
  size_t read() {
    char bytes[65536];
    size_t out = 0;
    for (;;) {
      const ssize_t got = ::recv(client, bytes, sizeof bytes, 0);
      if (got <= 0) return out;
      received.append(bytes, static_cast<size_t>(got));
      out += static_cast<size_t>(got);
    }
  }
  void run_and_read() {
    do run();
    while (read() > 0);
  }
  bool at_end() {
    char byte;
    return ::recv(client, &byte, 1, 0) == 0;
  }
  void tick_in(std::chrono::seconds time) {
    connection->tick(std::chrono::steady_clock::now() + time);
    run();
  }
};

std::string get(std::string_view path) {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: x\r\n\r\n";
}

// The bodies of all responses with a Content-Length, in order.
std::vector<std::string> bodies(std::string_view received) {
  std::vector<std::string> out;
  for (;;) {
    const size_t at = received.find("Content-Length: ");
    if (at == std::string_view::npos) return out;
    const size_t length = std::stoul(std::string(received.substr(at + 16, 10)));
    received.remove_prefix(received.find("\r\n\r\n", at) + 4);
    out.emplace_back(received.substr(0, length));
    received.remove_prefix(std::min(length, received.size()));
  }
}

using Bodies = std::vector<std::string>;

}  // namespace

TEST_CASE("a pipelined request is handled after the response to the one before it") {
  ConnectionFixture fixture;
  fixture.send(get("/a") + get("/later") + get("/b"));
  fixture.run_and_read();
  CHECK(bodies(fixture.received) == Bodies{"/a"});
  fixture.send(get("/c"));
  fixture.run_and_read();
  CHECK(fixture.handler.paths == Bodies{"/a", "/later"});
  fixture.handler.slow->writer->respond({.body = "late"});
  fixture.run_and_read();
  CHECK(bodies(fixture.received) == Bodies{"/a", "late", "/b", "/c"});
  CHECK(fixture.handler.slow->disconnects == 0);
}

TEST_CASE("bytes received during a response are parsed before later ones") {
  ConnectionFixture fixture;
  fixture.send(get("/later") + get("/a"));
  fixture.run();
  // The response has ended, but the client has not read it yet.
  fixture.handler.slow->writer->respond({.body = std::string(2000000, 'x')});
  fixture.run();
  fixture.send(get("/b"));
  fixture.run();
  fixture.run_and_read();
  const Bodies all = bodies(fixture.received);
  REQUIRE(all.size() == 3);
  CHECK(all[1] == "/a");
  CHECK(all[2] == "/b");
}

TEST_CASE(
    "a client that does not read its responses is not read from, and the backlog is bounded") {
  ConnectionFixture fixture;
  fixture.handler.padding = std::string(20000, 'x');
  std::string many;
  for (int i = 0; i < 300; ++i) many += get("/a");
  fixture.send(many);
  fixture.run(50);
  CHECK(fixture.connection->backlog() < 200000);
  CHECK(fixture.handler.paths.size() < 100);
  fixture.run_and_read();
  CHECK(fixture.handler.paths.size() == 300);
  CHECK(bodies(fixture.received).size() == 300);
  fixture.send(get("/b"));
  fixture.run_and_read();
  CHECK(fixture.handler.paths.back() == "/b");
  CHECK(fixture.closed == 0);
}

TEST_CASE("a stream is sent in chunks, and all sends of one round form one chunk") {
  ConnectionFixture fixture;
  fixture.send(get("/later") + get("/a"));
  fixture.run();
  ResponseWriter& writer = *fixture.handler.slow->writer;
  writer.begin_stream({.content_type = "text/event-stream"});
  writer.send("one ");
  writer.send("two");
  fixture.run_and_read();
  CHECK(fixture.received.find("Transfer-Encoding: chunked\r\n") != std::string::npos);
  CHECK(fixture.received.ends_with("\r\n\r\n7\r\none two\r\n"));
  CHECK(writer.backlog() == 0);
  CHECK(fixture.handler.slow->drains > 0);
  writer.send("three");
  writer.end(false);
  fixture.run_and_read();
  CHECK(fixture.received.find("5\r\nthree\r\n0\r\n\r\nHTTP/1.1 200") != std::string::npos);
  CHECK(fixture.received.ends_with("/a"));
}

TEST_CASE("ending a stream can close the connection") {
  ConnectionFixture fixture;
  fixture.send(get("/later") + get("/a"));
  fixture.run();
  fixture.handler.slow->writer->begin_stream({});
  fixture.handler.slow->writer->send("x");
  fixture.handler.slow->writer->end(true);
  fixture.run_and_read();
  CHECK(fixture.received.ends_with("1\r\nx\r\n0\r\n\r\n"));
  CHECK(fixture.at_end());
  CHECK(fixture.closed == 0);  // the client may still be sending
  fixture.disconnect();
  fixture.run();
  CHECK(fixture.closed == 1);
}

TEST_CASE("on_disconnect is called exactly once") {
  ConnectionFixture fixture;
  fixture.send(get("/later"));
  fixture.run();
  auto slow = fixture.handler.slow;
  SUBCASE("before the response") {}
  SUBCASE("during a stream") {
    slow->writer->begin_stream({});
    slow->writer->send(std::string(1000000, 'x'));
    fixture.run();
  }
  SUBCASE("after pipelined bytes") { fixture.send("GET /"); }
  fixture.disconnect();
  fixture.run();
  CHECK(slow->disconnects == 1);
  CHECK(fixture.closed == 1);
  fixture.connection->abandon();
  fixture.connection->tick(std::chrono::steady_clock::now() + 1h);
  fixture.connection->finish();
  fixture.connection->shut_down();
  fixture.run();
  CHECK(slow->disconnects == 1);
  CHECK(slow->shutdowns == 0);
  CHECK(fixture.closed == 1);
}

TEST_CASE("a response may be sent from within tick or on_shutdown") {
  ConnectionFixture fixture;
  fixture.send(get("/later"));
  fixture.run();
  auto slow = std::exchange(fixture.handler.slow, nullptr);
  TestResponse* const raw = slow.get();
  const auto answer = [raw] { raw->writer->respond({.body = "now"}); };
  SUBCASE("from tick") {
    raw->tick_callback = answer;
    slow.reset();
    fixture.tick_in(0s);
  }
  SUBCASE("from on_shutdown") {
    raw->shutdown_callback = answer;
    slow.reset();
    fixture.connection->shut_down();
  }
  fixture.run_and_read();
  CHECK(bodies(fixture.received) == Bodies{"now"});
}

TEST_CASE("head, body and idle timeouts are enforced") {
  struct Case {
    std::string sent;
    std::chrono::seconds most;
    int status;  // 0: closed without a word
  };
  for (const Case& c :
       std::vector<Case>{{"", 60s, 0},
                         {get("/a"), 60s, 0},
                         {"GET /", 10s, 408},
                         {get("/a") + "GET /", 10s, 408},
                         {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\na", 30s, 408}}) {
    CAPTURE(c.sent);
    ConnectionFixture fixture;
    fixture.send(c.sent);
    fixture.run_and_read();
    fixture.received.clear();
    fixture.tick_in(c.most - 1s);
    fixture.read();
    CHECK(fixture.received.empty());
    CHECK(fixture.closed == 0);
    fixture.tick_in(c.most + 1s);
    fixture.read();
    if (c.status == 0) {
      CHECK(fixture.received.empty());
      CHECK(fixture.closed == 1);
    } else {
      CHECK(fixture.received.starts_with("HTTP/1.1 408 "));
      CHECK(fixture.at_end());
      // The wait for the client to close its side is limited, too.
      fixture.tick_in(3s);
      CHECK(fixture.closed == 1);
    }
  }
}

TEST_CASE("a client that takes no byte of a response within the write timeout is disconnected") {
  for (const bool stream : {false, true}) {
    ConnectionFixture fixture;
    fixture.send(get("/later"));
    fixture.run();
    auto slow = fixture.handler.slow;
    if (stream) {
      slow->writer->begin_stream({});
      slow->writer->send(std::string(2000000, 'x'));
    } else {
      slow->writer->respond({.body = std::string(2000000, 'x')});
    }
    fixture.run();
    fixture.tick_in(29s);
    CHECK(fixture.closed == 0);
    CHECK(fixture.read() > 0);  // a little of it
    fixture.run();
    fixture.tick_in(29s);
    CHECK(fixture.closed == 0);
    fixture.tick_in(31s);
    CHECK(fixture.closed == 1);
    CHECK(slow->disconnects == (stream ? 1 : 0));
  }
}

TEST_CASE("a connection with unsent bytes is not idle") {
  ConnectionLimits limits;
  limits.write_timeout = 3600s;
  ConnectionFixture fixture(limits);
  fixture.send(get("/later"));
  fixture.run();
  fixture.handler.slow->writer->respond({.body = std::string(2000000, 'x')});
  fixture.run();
  fixture.tick_in(limits.idle_timeout + 1s);
  CHECK(fixture.closed == 0);
  fixture.run_and_read();
  CHECK(bodies(fixture.received).size() == 1);
  fixture.tick_in(limits.idle_timeout + 1s);
  CHECK(fixture.closed == 1);
}

TEST_CASE("finish() answers the request that has begun and then closes the connection") {
  SUBCASE("idle") {
    ConnectionFixture fixture;
    fixture.connection->finish();
    fixture.run();
    CHECK(fixture.at_end());
  }
  SUBCASE("within a request") {
    ConnectionFixture fixture;
    fixture.send("GET /a HTTP/1.1\r\n");
    fixture.run();
    fixture.connection->finish();
    fixture.run();
    fixture.send("Host: x\r\n\r\n");
    fixture.run_and_read();
    CHECK(bodies(fixture.received) == Bodies{"/a"});
    CHECK(fixture.received.find("Connection: close") != std::string::npos);
    CHECK(fixture.at_end());
  }
  SUBCASE("during a response") {
    ConnectionFixture fixture;
    fixture.send(get("/later") + get("/b"));
    fixture.run();
    fixture.connection->finish();
    fixture.handler.slow->writer->respond({.body = "late"});
    fixture.run_and_read();
    CHECK(bodies(fixture.received) == Bodies{"late"});
    CHECK(fixture.at_end());
  }
}

TEST_CASE("bytes after the last response are discarded, up to a limit") {
  ConnectionFixture fixture;
  fixture.send("nonsense\r\n\r\n");
  fixture.run_and_read();
  CHECK(fixture.received.starts_with("HTTP/1.1 400 "));
  const std::string junk(100000, 'x');
  for (int i = 0; i < 30 && fixture.closed == 0; ++i) {
    [[maybe_unused]] const ssize_t sent =
        ::send(fixture.client, junk.data(), junk.size(), MSG_NOSIGNAL);
    fixture.run();
  }
  CHECK(fixture.closed == 1);
  CHECK(fixture.handler.paths.empty());
}

}  // namespace connection_test
