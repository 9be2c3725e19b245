// Calls on an event loop. upstream_test.cpp tests what they share with calls that block.
#include <doctest/doctest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "net/loop.h"
#include "net/raw_server.h"
#include "net/way.h"

namespace asking_test {

using namespace std::chrono_literals;
using namespace stoka;
using namespace stoka::net;
using testing::FakeUpstream;
using testing::has;
using testing::Hearing;
using testing::kChat;
using testing::kEmbed;
using testing::Way;

namespace {

bool run(Loop& loop, const std::function<bool()>& over) {
  bool late = false;
  const auto alarm = loop.after(20s, [&] { late = true; });
  // The condition may depend on another thread, so the loop must not sleep for long.
  Loop::Timer tick;
  std::function<void()> again = [&] { tick = loop.after(1ms, again); };
  again();
  loop.drive([&] { return late || over(); }, {});
  return !late;
}

void rounds(Loop& loop, int count) {
  run(loop, [&] { return count-- <= 0; });
}

std::string inputs(const std::string& text) { return R"({"inputs":[")" + text + R"("]})"; }

// The outcome of a call on an event loop.
struct Told {
  int times = 0;
  std::optional<Result<Answer>> answer;
  std::unique_ptr<Asking> asking;

  void embed(Loop& loop, Upstream& upstream, const std::string& text = "hello") {
    asking = upstream.start(loop, {.name = "embed", .body = inputs(text)}, nullptr,
                            [this](Result<Answer> result) {
                              ++times;
                              answer = std::move(result);
                            });
    CHECK(times == 0);
  }
};

// Sends an endless response as long as the client reads it.
class Spring : public testing::SilentServer {
 public:
  Spring() : thread_([this] { serve(); }) {}
  ~Spring() {
    over_ = true;
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
  }
  size_t sent() const { return sent_; }
  bool left() const { return left_; }

 private:
  void serve() {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;
    const timeval patience{0, 20000};
    ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    std::string bytes =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" +
        std::string(16000, 'x');
    while (!over_ && !left_) {
      const ssize_t got = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (got > 0) sent_ += static_cast<size_t>(got);
      left_ = got < 0 && errno != EAGAIN && errno != EWOULDBLOCK;
    }
    ::close(fd);
  }

  std::atomic<size_t> sent_ = 0;
  std::atomic<bool> over_ = false, left_ = false;
  std::thread thread_;
};

}  // namespace

TEST_CASE("a call on a loop gets one response, and its callback may destroy the call") {
  FakeUpstream server;
  Way way(server.url());
  Loop loop;
  Told told;
  told.embed(loop, way.upstream());
  CHECK(run(loop, [&] { return told.times > 0; }));
  REQUIRE(told.answer->has_value());
  CHECK((*told.answer)->ok());
  CHECK((*told.answer)->body.starts_with("[["));
  CHECK(way.upstream().gate().taken() == 0);

  int times = 0;
  std::unique_ptr<Asking> asking;
  asking =
      way.upstream().start(loop, {.name = "embed", .body = kEmbed}, nullptr, [&](Result<Answer>) {
        ++times;
        asking.reset();
      });
  CHECK(run(loop, [&] { return times > 0; }));
  rounds(loop, 5);
  CHECK(times == 1);
  CHECK(told.times == 1);
}

TEST_CASE("an immediate failure is reported in a later iteration") {
  Loop loop;
  FakeUpstream server;
  server.behave(R"({"fault":"hang"})");
  Way busy(server.url());
  busy.options.gate = {1, 0, 10s};
  Told inside, full;
  inside.embed(loop, busy.upstream());
  full.embed(loop, busy.upstream());
  CHECK(run(loop, [&] { return full.times > 0; }));
  CHECK(full.answer->error().kind == ErrorKind::busy);
  CHECK(inside.times == 0);

  Way down(testing::deserted());
  down.options.retries = 0;
  down.options.breaker = {1, 1h, 1h};
  Told refused, resting;
  refused.embed(loop, down.upstream());
  CHECK(run(loop, [&] { return refused.times > 0; }));
  CHECK(refused.answer->error().kind == ErrorKind::unavailable);
  resting.embed(loop, down.upstream());
  CHECK(run(loop, [&] { return resting.times > 0; }));
  CHECK(has(resting.answer->error().message, "failed 1 times in a row"));
}

TEST_CASE("a call can be destroyed at any moment: no callback runs and its permit is free") {
  FakeUpstream server;
  server.behave(R"({"times":0,"delay_ms":2})");
  Way way(server.url());
  way.options.gate = {1, 8, 10s};
  Upstream& upstream = way.upstream();
  Loop loop;
  for (int moment = 0; moment < 40; ++moment) {
    CAPTURE(moment);
    Told first, second;
    first.embed(loop, upstream);
    second.embed(loop, upstream);
    rounds(loop, moment);
    // The calls are destroyed in either order.
    (moment % 2 ? first : second).asking.reset();
    if (moment % 4 < 2) rounds(loop, 2);
    first.asking.reset();
    second.asking.reset();
    const int before = first.times + second.times;
    CHECK(upstream.gate().taken() == 0);
    CHECK(upstream.gate().waiting() == 0);
    rounds(loop, 2);
    CHECK(first.times + second.times == before);
    CHECK(first.times <= 1);
    CHECK(second.times <= 1);
  }
  Told last;
  last.embed(loop, upstream);
  CHECK(run(loop, [&] { return last.times > 0; }));
  CHECK(last.answer->has_value());
}

TEST_CASE("calls on a loop and calls that block wait for a permit in one queue") {
  FakeUpstream server;
  Way way(server.url());
  way.options.gate = {1, 16, 60s};
  Upstream& upstream = way.upstream();
  server.behave(R"({"fault":"hang"})");
  Loop loop;
  std::vector<std::unique_ptr<Told>> told;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 7; ++i) {
    if (i % 2 == 0) {
      told.push_back(std::make_unique<Told>());
      told.back()->embed(loop, upstream, "number " + std::to_string(i));
    } else {
      threads.emplace_back([&upstream, i] {
        CHECK(upstream.call({.name = "embed", .body = inputs("number " + std::to_string(i))}, {})
                  .has_value());
      });
    }
    REQUIRE(run(loop, [&] { return upstream.gate().waiting() == static_cast<size_t>(i); }));
  }
  REQUIRE(run(loop, [&] { return server.seen().size() == 1; }));
  told.front()->asking.reset();
  CHECK(run(loop, [&] { return told.back()->times > 0; }));
  for (size_t i = 1; i < told.size(); ++i) CHECK(told[i]->answer->has_value());
  const auto seen = server.seen();
  REQUIRE(seen.size() == 7);
  for (size_t i = 0; i < seen.size(); ++i) CHECK(has(seen[i].body, std::to_string(i)));
  CHECK(upstream.gate().taken() == 0);
}

TEST_CASE("a call that waited too long fails once and takes no permit later") {
  FakeUpstream server;
  server.behave(R"({"fault":"hang"})");
  Way way(server.url());
  way.options.gate = {1, 8, 20ms};
  Upstream& upstream = way.upstream();
  Loop loop;
  Told first, second;
  first.embed(loop, upstream);
  second.embed(loop, upstream);
  CHECK(run(loop, [&] { return second.times > 0; }));
  CHECK(second.answer->error().kind == ErrorKind::busy);
  // The call still exists when the permit becomes free.
  CHECK(upstream.gate().waiting() == 0);
  first.asking.reset();
  rounds(loop, 10);
  CHECK(second.times == 1);
  CHECK(upstream.gate().taken() == 0);
}

TEST_CASE("a permit that is granted at the moment of the queue timeout is used only once") {
  FakeUpstream server;
  server.behave(R"({"fault":"hang"})");
  Way way(server.url());
  way.options.gate = {1, 8, 30ms};
  Upstream& upstream = way.upstream();
  Loop loop;
  Told first, second;
  first.embed(loop, upstream);
  rounds(loop, 5);
  // Both are due in the same iteration: the permit and the queue timeout.
  const auto leaving = loop.after(29ms, [&] { first.asking.reset(); });
  second.embed(loop, upstream);
  const auto late = loop.after(1ms, [] { std::this_thread::sleep_for(60ms); });
  CHECK(run(loop, [&] { return second.times > 0; }));
  rounds(loop, 10);
  CHECK(second.times == 1);
  second.asking.reset();
  CHECK(upstream.gate().taken() == 0);
}

TEST_CASE("the circuit breaker counts a call once, and a destroyed call not at all") {
  FakeUpstream server;
  server.behave(R"({"fault":"close","times":0})");
  Way way(server.url());
  way.options.retries = 0;
  way.options.breaker = {3, 1h, 1h};
  Upstream& upstream = way.upstream();
  Loop loop;
  const auto fail_once = [&] {
    Told told;
    told.embed(loop, upstream);
    CHECK(run(loop, [&] { return told.times > 0; }));
    return told.answer->error().message;
  };
  for (int i = 0; i < 2; ++i) CHECK_FALSE(has(fail_once(), "in a row"));
  for (int moment = 0; moment < 10; ++moment) {
    Told left;
    server.reset();
    server.behave(R"({"fault":"hang","times":0})");
    left.embed(loop, upstream);
    rounds(loop, moment);
    left.asking.reset();
  }
  server.reset();
  server.behave(R"({"fault":"close","times":0})");
  CHECK_FALSE(has(fail_once(), "in a row"));  // the third failure
  CHECK(has(fail_once(), "failed 3 times in a row"));
}

TEST_CASE("pausing a stream makes the server wait, and no timeout runs meanwhile") {
  Spring server;
  Way way(server.url(), "generator");
  way.options.deadlines.idle = 300ms;
  way.options.deadlines.first_token = 300ms;
  Upstream& upstream = way.upstream();
  Loop loop;
  Hearing hearing;
  bool ended = false;
  std::unique_ptr<Asking> asking;
  bool paused = false;
  hearing.on_body = [&](std::string_view) -> Result<Heard> {
    hearing.text.clear();
    if (!std::exchange(paused, true)) asking->pause();
    return Heard::flowing;
  };
  asking = upstream.start(loop, {.name = "chat/completions", .body = kChat}, &hearing,
                          [&](Result<Answer>) { ended = true; });
  for (int turn = 0; turn < 3; ++turn) {
    CAPTURE(turn);
    CHECK(run(loop, [&] { return paused || ended; }));
    // Wait until nothing has been sent for longer than any timeout.
    size_t sent = server.sent(), pieces = hearing.pieces;
    auto since = std::chrono::steady_clock::now();
    CHECK(run(loop, [&] {
      const auto now = std::chrono::steady_clock::now();
      if (std::exchange(sent, server.sent()) != server.sent() ||
          std::exchange(pieces, hearing.pieces) != hearing.pieces)
        since = now;
      return now - since > 500ms;
    }));
    CHECK_FALSE(ended);
    CHECK(hearing.pieces == pieces);
    paused = false;
    asking->resume();
    CHECK(run(loop, [&] { return hearing.pieces > pieces || ended; }));
    CHECK_FALSE(ended);
  }
  paused = true;
  asking->resume();
  const size_t sent = server.sent();
  CHECK(run(loop, [&] { return server.sent() > sent + 1000000 || ended; }));
  asking.reset();
  CHECK(run(loop, [&] { return server.left(); }));
}

TEST_CASE("a stop ends the delay before a retry") {
  FakeUpstream server;
  server.behave(R"({"status":503,"retry_after":"20","times":0})");
  Way way(server.url());
  std::stop_source source;
  way.log.on_warning = [&] { source.request_stop(); };
  const auto answer = way.embed(source.get_token());
  REQUIRE_FALSE(answer.has_value());
  CHECK(answer.error().kind == ErrorKind::cancelled);
  CHECK(server.seen().size() == 1);
  CHECK(way.upstream().gate().taken() == 0);

  // On a loop the call is destroyed.
  Loop loop;
  Told told;
  told.embed(loop, way.upstream());
  CHECK(run(loop, [&] { return way.log.warnings == 2; }));
  CHECK(way.upstream().gate().taken() == 1);
  told.asking.reset();
  CHECK(way.upstream().gate().taken() == 0);
  rounds(loop, 5);
  CHECK(told.times == 0);
  CHECK(server.seen().size() == 2);
}

}  // namespace asking_test
