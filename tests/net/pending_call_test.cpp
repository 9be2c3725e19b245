// Calls on an event loop. upstream_test.cpp tests what they share with calls that block.
#include <doctest/doctest.h>
#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "net/event_loop.h"
#include "net/upstream_fixture.h"
#include "support/sockets.h"

namespace pending_call_test {

using namespace std::chrono_literals;
using namespace stoka;
using namespace stoka::net;
using testing::CapturingSink;
using testing::FakeUpstream;
using testing::has;
using testing::kChat;
using testing::kEmbed;
using testing::UpstreamFixture;

namespace {

bool run_until(EventLoop& loop, const std::function<bool()>& over) {
  bool late = false;
  const auto timeout = loop.after(20s, [&] { late = true; });
  // The condition may depend on another thread, so the loop must not sleep for long.
  EventLoop::Timer tick;
  std::function<void()> again = [&] { tick = loop.after(1ms, again); };
  again();
  loop.run_until([&] { return late || over(); }, {});
  return !late;
}

void run_rounds(EventLoop& loop, int count) {
  run_until(loop, [&] { return count-- <= 0; });
}

std::string inputs(const std::string& text) { return R"({"inputs":[")" + text + R"("]})"; }

// The outcome of a call on an event loop.
struct CallResult {
  int times = 0;
  std::optional<Result<HttpResponse>> answer;
  std::unique_ptr<PendingCall> call;

  void embed(EventLoop& loop, Upstream& upstream, const std::string& text = "hello") {
    call = upstream.start(loop, {.endpoint = "embed", .body = inputs(text)}, nullptr,
                          [this](Result<HttpResponse> result) {
                            ++times;
                            answer = std::move(result);
                          });
    CHECK(times == 0);
  }
};

// Sends an endless response as long as the client reads it.
class EndlessServer {
 public:
  EndlessServer() : thread_([this] { serve(); }) {}
  ~EndlessServer() {
    over_ = true;
    listener_.shut_down();
    thread_.join();
  }
  std::string url() const { return listener_.url(); }
  size_t sent() const { return sent_; }
  bool left() const { return left_; }

 private:
  void serve() {
    const testing::Descriptor client = listener_.accept();
    set_timeout(client, 20ms);
    std::string bytes =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" +
        std::string(16000, 'x');
    while (!over_ && !left_) {
      const ssize_t got = ::send(client.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (got > 0) sent_ += static_cast<size_t>(got);
      left_ = got < 0 && errno != EAGAIN && errno != EWOULDBLOCK;
    }
  }

  const testing::Listener listener_;
  std::atomic<size_t> sent_ = 0;
  std::atomic<bool> over_ = false, left_ = false;
  std::thread thread_;
};

}  // namespace

TEST_CASE("a call on a loop gets one response, and its callback may destroy the call") {
  FakeUpstream server;
  UpstreamFixture fixture(server.url());
  EventLoop loop;
  CallResult result;
  result.embed(loop, fixture.upstream());
  CHECK(run_until(loop, [&] { return result.times > 0; }));
  REQUIRE(result.answer->has_value());
  CHECK((*result.answer)->ok());
  CHECK((*result.answer)->body.starts_with("[["));
  CHECK(fixture.upstream().semaphore().in_use() == 0);

  int times = 0;
  std::unique_ptr<PendingCall> call;
  call = fixture.upstream().start(loop, {.endpoint = "embed", .body = kEmbed}, nullptr,
                                  [&](Result<HttpResponse>) {
                                    ++times;
                                    call.reset();
                                  });
  CHECK(run_until(loop, [&] { return times > 0; }));
  run_rounds(loop, 5);
  CHECK(times == 1);
  CHECK(result.times == 1);
}

TEST_CASE("an immediate failure is reported in a later iteration") {
  EventLoop loop;
  FakeUpstream server;
  server.queue_behaviour(R"({"fault":"hang"})");
  UpstreamFixture busy(server.url());
  busy.options.semaphore = {1, 0, 10s};
  CallResult inside, full;
  inside.embed(loop, busy.upstream());
  full.embed(loop, busy.upstream());
  CHECK(run_until(loop, [&] { return full.times > 0; }));
  CHECK(full.answer->error().kind == ErrorKind::busy);
  CHECK(inside.times == 0);

  UpstreamFixture down(testing::unused_url());
  down.options.retries = 0;
  down.options.breaker = {1, 1h, 1h};
  CallResult refused, resting;
  refused.embed(loop, down.upstream());
  CHECK(run_until(loop, [&] { return refused.times > 0; }));
  CHECK(refused.answer->error().kind == ErrorKind::unavailable);
  resting.embed(loop, down.upstream());
  CHECK(run_until(loop, [&] { return resting.times > 0; }));
  CHECK(has(resting.answer->error().message, "failed 1 times in a row"));
}

TEST_CASE("a call can be destroyed at any moment: no callback runs and its permit is free") {
  FakeUpstream server;
  server.queue_behaviour(R"({"times":0,"delay_ms":2})");
  UpstreamFixture fixture(server.url());
  fixture.options.semaphore = {1, 8, 10s};
  Upstream& upstream = fixture.upstream();
  EventLoop loop;
  for (int moment = 0; moment < 40; ++moment) {
    CAPTURE(moment);
    CallResult first, second;
    first.embed(loop, upstream);
    second.embed(loop, upstream);
    run_rounds(loop, moment);
    // The calls are destroyed in either order.
    (moment % 2 ? first : second).call.reset();
    if (moment % 4 < 2) run_rounds(loop, 2);
    first.call.reset();
    second.call.reset();
    const int before = first.times + second.times;
    CHECK(upstream.semaphore().in_use() == 0);
    CHECK(upstream.semaphore().waiting() == 0);
    run_rounds(loop, 2);
    CHECK(first.times + second.times == before);
    CHECK(first.times <= 1);
    CHECK(second.times <= 1);
  }
  CallResult last;
  last.embed(loop, upstream);
  CHECK(run_until(loop, [&] { return last.times > 0; }));
  CHECK(last.answer->has_value());
}

TEST_CASE("calls on a loop and calls that block wait for a permit in one queue") {
  FakeUpstream server;
  UpstreamFixture fixture(server.url());
  fixture.options.semaphore = {1, 16, 60s};
  Upstream& upstream = fixture.upstream();
  server.queue_behaviour(R"({"fault":"hang"})");
  EventLoop loop;
  std::vector<std::unique_ptr<CallResult>> result;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 7; ++i) {
    if (i % 2 == 0) {
      result.push_back(std::make_unique<CallResult>());
      result.back()->embed(loop, upstream, "number " + std::to_string(i));
    } else {
      threads.emplace_back([&upstream, i] {
        CHECK(
            upstream.call({.endpoint = "embed", .body = inputs("number " + std::to_string(i))}, {})
                .has_value());
      });
    }
    REQUIRE(
        run_until(loop, [&] { return upstream.semaphore().waiting() == static_cast<size_t>(i); }));
  }
  REQUIRE(run_until(loop, [&] { return server.requests().size() == 1; }));
  result.front()->call.reset();
  CHECK(run_until(loop, [&] { return result.back()->times > 0; }));
  for (size_t i = 1; i < result.size(); ++i) CHECK(result[i]->answer->has_value());
  const auto seen = server.requests();
  REQUIRE(seen.size() == 7);
  for (size_t i = 0; i < seen.size(); ++i) CHECK(has(seen[i].body, std::to_string(i)));
  CHECK(upstream.semaphore().in_use() == 0);
}

TEST_CASE("a call that waited too long fails once and takes no permit later") {
  FakeUpstream server;
  server.queue_behaviour(R"({"fault":"hang"})");
  UpstreamFixture fixture(server.url());
  fixture.options.semaphore = {1, 8, 20ms};
  Upstream& upstream = fixture.upstream();
  EventLoop loop;
  CallResult first, second;
  first.embed(loop, upstream);
  second.embed(loop, upstream);
  CHECK(run_until(loop, [&] { return second.times > 0; }));
  CHECK(second.answer->error().kind == ErrorKind::busy);
  // The call still exists when the permit becomes free.
  CHECK(upstream.semaphore().waiting() == 0);
  first.call.reset();
  run_rounds(loop, 10);
  CHECK(second.times == 1);
  CHECK(upstream.semaphore().in_use() == 0);
}

TEST_CASE("a permit that is granted at the moment of the queue timeout is used only once") {
  FakeUpstream server;
  server.queue_behaviour(R"({"fault":"hang"})");
  UpstreamFixture fixture(server.url());
  fixture.options.semaphore = {1, 8, 30ms};
  Upstream& upstream = fixture.upstream();
  EventLoop loop;
  CallResult first, second;
  first.embed(loop, upstream);
  run_rounds(loop, 5);
  // Both are due in the same iteration: the permit and the queue timeout.
  const auto leaving = loop.after(29ms, [&] { first.call.reset(); });
  second.embed(loop, upstream);
  const auto late = loop.after(1ms, [] { std::this_thread::sleep_for(60ms); });
  CHECK(run_until(loop, [&] { return second.times > 0; }));
  run_rounds(loop, 10);
  CHECK(second.times == 1);
  second.call.reset();
  CHECK(upstream.semaphore().in_use() == 0);
}

TEST_CASE("the circuit breaker counts a call once, and a destroyed call not at all") {
  FakeUpstream server;
  server.queue_behaviour(R"({"fault":"close","times":0})");
  UpstreamFixture fixture(server.url());
  fixture.options.retries = 0;
  fixture.options.breaker = {3, 1h, 1h};
  Upstream& upstream = fixture.upstream();
  EventLoop loop;
  const auto fail_once = [&] {
    CallResult result;
    result.embed(loop, upstream);
    CHECK(run_until(loop, [&] { return result.times > 0; }));
    return result.answer->error().message;
  };
  for (int i = 0; i < 2; ++i) CHECK_FALSE(has(fail_once(), "in a row"));
  for (int moment = 0; moment < 10; ++moment) {
    CallResult left;
    server.reset();
    server.queue_behaviour(R"({"fault":"hang","times":0})");
    left.embed(loop, upstream);
    run_rounds(loop, moment);
    left.call.reset();
  }
  server.reset();
  server.queue_behaviour(R"({"fault":"close","times":0})");
  CHECK_FALSE(has(fail_once(), "in a row"));  // the third failure
  CHECK(has(fail_once(), "failed 3 times in a row"));
}

TEST_CASE("pausing a stream makes the server wait, and no timeout runs meanwhile") {
  EndlessServer server;
  UpstreamFixture fixture(server.url(), "generator");
  fixture.options.timeouts.idle = 300ms;
  fixture.options.timeouts.first_token = 300ms;
  Upstream& upstream = fixture.upstream();
  EventLoop loop;
  CapturingSink sink;
  bool ended = false;
  std::unique_ptr<PendingCall> call;
  bool paused = false;
  sink.on_body = [&](std::string_view) -> Result<BodyProgress> {
    sink.text.clear();
    if (!std::exchange(paused, true)) call->pause();
    return BodyProgress::content;
  };
  call = upstream.start(loop, {.endpoint = "chat/completions", .body = kChat}, &sink,
                        [&](Result<HttpResponse>) { ended = true; });
  for (int turn = 0; turn < 3; ++turn) {
    CAPTURE(turn);
    CHECK(run_until(loop, [&] { return paused || ended; }));
    // Wait until nothing has been sent for longer than any timeout.
    size_t sent = server.sent(), pieces = sink.pieces;
    auto since = std::chrono::steady_clock::now();
    CHECK(run_until(loop, [&] {
      const auto now = std::chrono::steady_clock::now();
      if (std::exchange(sent, server.sent()) != server.sent() ||
          std::exchange(pieces, sink.pieces) != sink.pieces)
        since = now;
      return now - since > 500ms;
    }));
    CHECK_FALSE(ended);
    CHECK(sink.pieces == pieces);
    paused = false;
    call->resume();
    CHECK(run_until(loop, [&] { return sink.pieces > pieces || ended; }));
    CHECK_FALSE(ended);
  }
  paused = true;
  call->resume();
  const size_t sent = server.sent();
  CHECK(run_until(loop, [&] { return server.sent() > sent + 1000000 || ended; }));
  call.reset();
  CHECK(run_until(loop, [&] { return server.left(); }));
}

TEST_CASE("a stop ends the delay before a retry") {
  FakeUpstream server;
  server.queue_behaviour(R"({"status":503,"retry_after":"20","times":0})");
  UpstreamFixture fixture(server.url());
  std::stop_source source;
  fixture.log.on_warning = [&] { source.request_stop(); };
  const auto answer = fixture.embed(source.get_token());
  REQUIRE_FALSE(answer.has_value());
  CHECK(answer.error().kind == ErrorKind::cancelled);
  CHECK(server.requests().size() == 1);
  CHECK(fixture.upstream().semaphore().in_use() == 0);

  // On a loop the call is destroyed.
  EventLoop loop;
  CallResult result;
  result.embed(loop, fixture.upstream());
  CHECK(run_until(loop, [&] { return fixture.log.warnings == 2; }));
  CHECK(fixture.upstream().semaphore().in_use() == 1);
  result.call.reset();
  CHECK(fixture.upstream().semaphore().in_use() == 0);
  run_rounds(loop, 5);
  CHECK(result.times == 0);
  CHECK(server.requests().size() == 2);
}

}  // namespace pending_call_test
