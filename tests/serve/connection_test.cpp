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

// What a test knows of an answer that takes time.
struct Slow final : Pending {
  Client* client = nullptr;
  int lefts = 0, drains = 0, ticks = 0, shut_downs = 0;
  std::function<void()> on_tick, on_shut_down;

  void left() override {
    ++lefts;
    client = nullptr;
  }
  void drained() override { ++drains; }
  void tick(std::chrono::steady_clock::time_point) override {
    ++ticks;
    if (on_tick) on_tick();
  }
  void shut_down() override {
    ++shut_downs;
    if (on_shut_down) on_shut_down();
  }
};

// Answers at once, with the path; but /later/… when the test wants.
struct Scripted final : Handler {
  std::vector<std::string> asked;
  std::shared_ptr<Slow> slow;
  std::string more;  // of every body

  std::shared_ptr<Pending> handle(Request request, Client& client) override {
    asked.push_back(request.path);
    if (request.path.starts_with("/later")) {
      slow = std::make_shared<Slow>();
      slow->client = &client;
      return slow;
    }
    client.respond({.body = request.path + more});
    return nullptr;
  }
  Response refuse(const Request&, int status, std::string_view why, std::string_view) override {
    return {.status = status, .body = std::string(why), .close = true};
  }
};

struct Line {
  net::Loop loop;
  Scripted handler;
  int client = -1;
  int closed = 0;
  std::unique_ptr<Connection> connection;
  std::string heard;  // by the client

  explicit Line(ConnectionLimits limits = {}) {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
    client = ends[0];
    connection = std::make_unique<Connection>(loop, ends[1], Address(), handler, limits,
                                              [this] { ++closed; });
  }
  ~Line() { leave(); }

  void leave() {
    if (const int fd = std::exchange(client, -1); fd >= 0) ::close(fd);
  }
  void say(std::string_view bytes) {
    REQUIRE(::send(client, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(bytes.size()));
  }
  void go(int rounds = 6) {
    net::Loop::Timer tick;
    std::function<void()> again = [&] { tick = loop.after(net::Milliseconds(0), again); };
    again();
    loop.drive([&] { return rounds-- <= 0; }, {});
  }
  // All that can be read without the loop.
  size_t read() {
    char bytes[65536];
    size_t out = 0;
    for (;;) {
      const ssize_t got = ::recv(client, bytes, sizeof bytes, 0);
      if (got <= 0) return out;
      heard.append(bytes, static_cast<size_t>(got));
      out += static_cast<size_t>(got);
    }
  }
  void read_all() {
    do go();
    while (read() > 0);
  }
  bool at_end() {
    char byte;
    return ::recv(client, &byte, 1, 0) == 0;
  }
  void tick_in(std::chrono::seconds time) {
    connection->tick(std::chrono::steady_clock::now() + time);
    go();
  }
};

std::string get(std::string_view path) {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: x\r\n\r\n";
}

// The bodies of answers with a length, in their order.
std::vector<std::string> bodies(std::string_view heard) {
  std::vector<std::string> out;
  for (;;) {
    const size_t at = heard.find("Content-Length: ");
    if (at == std::string_view::npos) return out;
    const size_t length = std::stoul(std::string(heard.substr(at + 16, 10)));
    heard.remove_prefix(heard.find("\r\n\r\n", at) + 4);
    out.emplace_back(heard.substr(0, length));
    heard.remove_prefix(std::min(length, heard.size()));
  }
}

using Bodies = std::vector<std::string>;

}  // namespace

TEST_CASE("a request waits until the one before it is answered") {
  Line line;
  line.say(get("/a") + get("/later") + get("/b"));
  line.read_all();
  CHECK(bodies(line.heard) == Bodies{"/a"});
  line.say(get("/c"));
  line.read_all();
  CHECK(line.handler.asked == Bodies{"/a", "/later"});
  line.handler.slow->client->respond({.body = "late"});
  line.read_all();
  CHECK(bodies(line.heard) == Bodies{"/a", "late", "/b", "/c"});
  CHECK(line.handler.slow->lefts == 0);
}

TEST_CASE("what was received during an answer comes before what is received after it") {
  Line line;
  line.say(get("/later") + get("/a"));
  line.go();
  // The answer is over, but not yet taken by the client.
  line.handler.slow->client->respond({.body = std::string(2000000, 'x')});
  line.go();
  line.say(get("/b"));
  line.go();
  line.read_all();
  const Bodies all = bodies(line.heard);
  REQUIRE(all.size() == 3);
  CHECK(all[1] == "/a");
  CHECK(all[2] == "/b");
}

TEST_CASE("who does not read is not heard, and only so much is kept for it") {
  Line line;
  line.handler.more = std::string(20000, 'x');
  std::string many;
  for (int i = 0; i < 300; ++i) many += get("/a");
  line.say(many);
  line.go(50);
  CHECK(line.connection->backlog() < 200000);
  CHECK(line.handler.asked.size() < 100);
  line.read_all();
  CHECK(line.handler.asked.size() == 300);
  CHECK(bodies(line.heard).size() == 300);
  line.say(get("/b"));
  line.read_all();
  CHECK(line.handler.asked.back() == "/b");
  CHECK(line.closed == 0);
}

TEST_CASE("a stream goes out in chunks, a round's words in one") {
  Line line;
  line.say(get("/later") + get("/a"));
  line.go();
  Client& client = *line.handler.slow->client;
  client.begin_stream({.content_type = "text/event-stream"});
  client.send("one ");
  client.send("two");
  line.read_all();
  CHECK(line.heard.find("Transfer-Encoding: chunked\r\n") != std::string::npos);
  CHECK(line.heard.ends_with("\r\n\r\n7\r\none two\r\n"));
  CHECK(client.backlog() == 0);
  CHECK(line.handler.slow->drains > 0);
  client.send("three");
  client.end(false);
  line.read_all();
  CHECK(line.heard.find("5\r\nthree\r\n0\r\n\r\nHTTP/1.1 200") != std::string::npos);
  CHECK(line.heard.ends_with("/a"));
}

TEST_CASE("the end of a stream may be the end of the connection") {
  Line line;
  line.say(get("/later") + get("/a"));
  line.go();
  line.handler.slow->client->begin_stream({});
  line.handler.slow->client->send("x");
  line.handler.slow->client->end(true);
  line.read_all();
  CHECK(line.heard.ends_with("1\r\nx\r\n0\r\n\r\n"));
  CHECK(line.at_end());
  CHECK(line.closed == 0);  // the client may still be sending
  line.leave();
  line.go();
  CHECK(line.closed == 1);
}

TEST_CASE("an answer is told once that its client has left") {
  Line line;
  line.say(get("/later"));
  line.go();
  auto slow = line.handler.slow;
  SUBCASE("before anything was said") {}
  SUBCASE("amid a stream") {
    slow->client->begin_stream({});
    slow->client->send(std::string(1000000, 'x'));
    line.go();
  }
  SUBCASE("by silence that is its own") { line.say("GET /"); }
  line.leave();
  line.go();
  CHECK(slow->lefts == 1);
  CHECK(line.closed == 1);
  line.connection->abandon();
  line.connection->tick(std::chrono::steady_clock::now() + 1h);
  line.connection->finish();
  line.connection->shut_down();
  line.go();
  CHECK(slow->lefts == 1);
  CHECK(slow->shut_downs == 0);
  CHECK(line.closed == 1);
}

TEST_CASE("an answer may be given in the middle of being asked for it") {
  Line line;
  line.say(get("/later"));
  line.go();
  auto slow = std::exchange(line.handler.slow, nullptr);
  Slow* const raw = slow.get();
  const auto answer = [raw] { raw->client->respond({.body = "now"}); };
  SUBCASE("by a tick") {
    raw->on_tick = answer;
    slow.reset();
    line.tick_in(0s);
  }
  SUBCASE("by the end of the server") {
    raw->on_shut_down = answer;
    slow.reset();
    line.connection->shut_down();
  }
  line.read_all();
  CHECK(bodies(line.heard) == Bodies{"now"});
}

TEST_CASE("each kind of waiting has its limit") {
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
    Line line;
    line.say(c.sent);
    line.read_all();
    line.heard.clear();
    line.tick_in(c.most - 1s);
    line.read();
    CHECK(line.heard.empty());
    CHECK(line.closed == 0);
    line.tick_in(c.most + 1s);
    line.read();
    if (c.status == 0) {
      CHECK(line.heard.empty());
      CHECK(line.closed == 1);
    } else {
      CHECK(line.heard.starts_with("HTTP/1.1 408 "));
      CHECK(line.at_end());
      // And for the end of the client's own side there is a limit too.
      line.tick_in(3s);
      CHECK(line.closed == 1);
    }
  }
}

TEST_CASE("an answer that is not taken is cut, however often it is asked again") {
  for (const bool stream : {false, true}) {
    Line line;
    line.say(get("/later"));
    line.go();
    auto slow = line.handler.slow;
    if (stream) {
      slow->client->begin_stream({});
      slow->client->send(std::string(2000000, 'x'));
    } else {
      slow->client->respond({.body = std::string(2000000, 'x')});
    }
    line.go();
    line.tick_in(29s);
    CHECK(line.closed == 0);
    CHECK(line.read() > 0);  // a little of it
    line.go();
    line.tick_in(29s);
    CHECK(line.closed == 0);
    line.tick_in(31s);
    CHECK(line.closed == 1);
    CHECK(slow->lefts == (stream ? 1 : 0));
  }
}

TEST_CASE("a long answer that is taken slowly is no idleness") {
  ConnectionLimits limits;
  limits.slow = 3600s;
  Line line(limits);
  line.say(get("/later"));
  line.go();
  line.handler.slow->client->respond({.body = std::string(2000000, 'x')});
  line.go();
  line.tick_in(limits.idle + 1s);
  CHECK(line.closed == 0);
  line.read_all();
  CHECK(bodies(line.heard).size() == 1);
  line.tick_in(limits.idle + 1s);
  CHECK(line.closed == 1);
}

TEST_CASE("a connection that is to finish answers what it has begun to hear, and closes") {
  SUBCASE("idle") {
    Line line;
    line.connection->finish();
    line.go();
    CHECK(line.at_end());
  }
  SUBCASE("within a request") {
    Line line;
    line.say("GET /a HTTP/1.1\r\n");
    line.go();
    line.connection->finish();
    line.go();
    line.say("Host: x\r\n\r\n");
    line.read_all();
    CHECK(bodies(line.heard) == Bodies{"/a"});
    CHECK(line.heard.find("Connection: close") != std::string::npos);
    CHECK(line.at_end());
  }
  SUBCASE("within an answer") {
    Line line;
    line.say(get("/later") + get("/b"));
    line.go();
    line.connection->finish();
    line.handler.slow->client->respond({.body = "late"});
    line.read_all();
    CHECK(bodies(line.heard) == Bodies{"late"});
    CHECK(line.at_end());
  }
}

TEST_CASE("what comes after the last answer is not kept") {
  Line line;
  line.say("nonsense\r\n\r\n");
  line.read_all();
  CHECK(line.heard.starts_with("HTTP/1.1 400 "));
  const std::string junk(100000, 'x');
  for (int i = 0; i < 30 && line.closed == 0; ++i) {
    [[maybe_unused]] const ssize_t sent =
        ::send(line.client, junk.data(), junk.size(), MSG_NOSIGNAL);
    line.go();
  }
  CHECK(line.closed == 1);
  CHECK(line.handler.asked.empty());
}

}  // namespace connection_test
