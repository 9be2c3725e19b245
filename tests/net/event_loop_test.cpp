#include "net/event_loop.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "net/capturing_sink.h"
#include "support/upstream/fake_upstream.h"

namespace event_loop_test {

using namespace std::chrono_literals;
using namespace stoka;
using namespace stoka::net;
using testing::CapturingSink;
using testing::FakeUpstream;

namespace {

// Returns false on a timeout.
bool run_until(EventLoop& loop, const std::function<bool()>& over) {
  bool late = false;
  const auto timeout = loop.after(20s, [&] { late = true; });
  loop.run_until([&] { return late || over(); }, {});
  return !late;
}

// Runs a number of iterations, none of which waits long.
void run_rounds(EventLoop& loop, int count) {
  EventLoop::Timer tick;
  std::function<void()> again = [&] { tick = loop.after(1ms, again); };
  again();
  loop.run_until([&] { return count-- <= 0; }, {});
}

struct SocketPair {
  int ends[2];
  SocketPair() { REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0); }
  ~SocketPair() {
    ::close(ends[0]);
    ::close(ends[1]);
  }
  void send(int end) { CHECK(::send(ends[end], "x", 1, MSG_NOSIGNAL) == 1); }
  std::string receive(int end) {
    char bytes[64];
    const ssize_t got = ::recv(ends[end], bytes, sizeof bytes, 0);
    return got > 0 ? std::string(bytes, static_cast<size_t>(got)) : "";
  }
};

}  // namespace

TEST_CASE("timers run in the order of their times, and equal times in the order of creation") {
  EventLoop loop;
  std::string order;
  const auto start = std::chrono::steady_clock::now();
  const auto at = [&](std::chrono::milliseconds time, char name) {
    return loop.at(start + time, [&order, name] { order += name; });
  };
  const auto c = at(3ms, 'c'), a = at(1ms, 'a'), d = at(3ms, 'd'), b = at(2ms, 'b');
  auto cancelled = at(1ms, 'x');
  cancelled.cancel();
  cancelled.cancel();
  { const auto destroyed = at(1ms, 'y'); }
  auto overwritten = at(1ms, 'z');
  overwritten = at(4ms, 'e');
  const auto moved = std::move(overwritten);
  CHECK(run_until(loop, [&] { return order.size() == 5; }));
  CHECK(order == "abcde");
}

TEST_CASE("a due timer may be cancelled by an earlier one, and a timer may set itself again") {
  EventLoop loop;
  std::string order;
  EventLoop::Timer first, second, third;
  first = loop.after(0ms, [&] {
    order += 'a';
    second.cancel();
  });
  second = loop.after(0ms, [&] { order += 'b'; });
  int times = 0;
  std::function<void()> again = [&] {
    if (++times < 100) third = loop.after(0ms, again);
  };
  third = loop.after(0ms, again);
  CHECK(run_until(loop, [&] { return times == 100; }));
  CHECK(order == "a");
}

TEST_CASE("a timer that sets itself for now does not keep posted tasks from running") {
  EventLoop loop;
  EventLoop::Timer timer;
  bool posted = false;
  std::function<void()> again = [&] { timer = loop.after(0ms, again); };
  again();
  loop.post([&] { posted = true; });
  CHECK(run_until(loop, [&] { return posted; }));
}

TEST_CASE("deferred tasks run before the loop waits, and so do the tasks that they defer") {
  EventLoop loop;
  std::string done;
  loop.defer([&] {
    done += 'a';
    loop.defer([&] { done += 'c'; });
  });
  loop.defer([&] { done += 'b'; });
  int passed = 0;
  loop.run_until([&] { return passed++ == 1; }, {});
  CHECK(done == "abc");
}

TEST_CASE("posted tasks run on the loop's thread, in order for each thread") {
  constexpr int kThreads = 8, kEach = 500;
  EventLoop loop;
  std::vector<std::vector<int>> done(kThreads);
  const auto here = std::this_thread::get_id();
  bool elsewhere = false;
  size_t count = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i)
      threads.emplace_back([&, i] {
        for (int j = 0; j < kEach; ++j)
          loop.post([&, i, j] {
            elsewhere = elsewhere || std::this_thread::get_id() != here;
            done[static_cast<size_t>(i)].push_back(j);
            ++count;
          });
      });
    CHECK(run_until(loop, [&] { return count == kThreads * kEach; }));
  }
  CHECK_FALSE(elsewhere);
  for (const auto& of_one : done) {
    CHECK(of_one.size() == kEach);
    CHECK(std::is_sorted(of_one.begin(), of_one.end()));
  }
}

TEST_CASE("a watch reports the states that were asked for") {
  EventLoop loop;
  SocketPair pair;
  std::string received;
  int writable = 0;
  auto watch = loop.watch(pair.ends[0], [&](EventLoop::Readiness ready) {
    if (ready.readable) received += pair.receive(0);
    writable += ready.writable;
  });
  pair.send(1);
  run_rounds(loop, 5);
  CHECK(received.empty());  // no state was asked for yet
  watch.set_interest(true, false);
  CHECK(run_until(loop, [&] { return received == "x"; }));
  CHECK(writable == 0);
  watch.set_interest(false, true);
  pair.send(1);
  CHECK(run_until(loop, [&] { return writable > 0; }));
  CHECK(received == "x");
  auto moved = std::move(watch);
  moved.set_interest(true, false);
  CHECK(run_until(loop, [&] { return received == "xx"; }));
  moved.cancel();
  moved.cancel();
  moved.set_interest(true, true);
  pair.send(1);
  run_rounds(loop, 5);
  CHECK(received == "xx");
}

TEST_CASE("a descriptor whose peer has closed is readable") {
  EventLoop loop;
  SocketPair pair;
  bool ended = false;
  int how = SHUT_RDWR;
  SUBCASE("in both directions") {}
  SUBCASE("for writing") { how = SHUT_WR; }
  auto watch = loop.watch(pair.ends[0], [&](EventLoop::Readiness ready) {
    ended = ready.readable && pair.receive(0).empty();
  });
  watch.set_interest(true, false);
  ::shutdown(pair.ends[1], how);
  CHECK(run_until(loop, [&] { return ended; }));
}

TEST_CASE("a watch may be cancelled by its own callback or by that of another ready watch") {
  EventLoop loop;
  SocketPair one, two;
  int calls = 0;
  EventLoop::Watch first, second;
  first = loop.watch(one.ends[0], [&](EventLoop::Readiness) {
    ++calls;
    first.cancel();
    second.cancel();
  });
  second = loop.watch(two.ends[0], [&](EventLoop::Readiness) {
    ++calls;
    second.cancel();
    first.cancel();
  });
  first.set_interest(true, true);
  second.set_interest(true, true);
  one.send(1);
  two.send(1);
  run_rounds(loop, 5);
  CHECK(calls == 1);
}

TEST_CASE("a new descriptor with the number of a closed one does not trigger the old watch") {
  EventLoop loop;
  auto old = std::make_unique<SocketPair>();
  auto waker = std::make_unique<SocketPair>();
  std::unique_ptr<SocketPair> young;
  int of_old = 0, of_young = 0;
  EventLoop::Watch watch = loop.watch(old->ends[0], [&](EventLoop::Readiness) { ++of_old; });
  EventLoop::Watch replacing, fresh;
  watch.set_interest(true, false);
  replacing = loop.watch(waker->ends[0], [&](EventLoop::Readiness) {
    replacing.cancel();
    const int number = old->ends[0];
    watch.cancel();
    old.reset();
    young = std::make_unique<SocketPair>();
    CHECK((young->ends[0] == number || young->ends[1] == number));
    fresh = loop.watch(number, [&](EventLoop::Readiness) { ++of_young; });
    fresh.set_interest(true, false);
  });
  replacing.set_interest(true, false);
  waker->send(1);
  old->send(1);  // ready in the same iteration, after the waker
  run_rounds(loop, 5);
  REQUIRE(young);
  CHECK(of_old == 0);
  CHECK(of_young == 0);
  young->send(0);
  young->send(1);
  CHECK(run_until(loop, [&] { return of_young > 0; }));
  CHECK(of_old == 0);
  fresh.cancel();
}

TEST_CASE("a stop request wakes an idle loop, and a loop that was already stopped runs nothing") {
  EventLoop loop;
  std::stop_source source;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(5ms);
    source.request_stop();
  });
  loop.run_until([] { return false; }, source.get_token());
  CHECK(source.stop_requested());
  bool done = false;
  loop.post([&] { done = true; });
  loop.run_until([] { return false; }, source.get_token());
  CHECK_FALSE(done);
}

TEST_CASE("a destroyed loop destroys its tasks, timers, watches and transfers") {
  FakeUpstream server;
  server.queue_behaviour(R"({"fault":"hang","times":0})");
  const HttpRequest request = testing::get(server.url() + "/v1/models");
  CapturingSink sink;
  int called = 0;
  auto held = std::make_shared<int>(1);
  std::weak_ptr<int> gone = held;
  SocketPair pair;
  {
    EventLoop loop;
    auto timer = std::make_shared<EventLoop::Timer>(loop.after(1h, [&] { ++called; }));
    auto watch =
        std::make_shared<EventLoop::Watch>(loop.watch(pair.ends[0], [](EventLoop::Readiness) {}));
    std::shared_ptr<Transfer> transfer =
        loop.start_transfer(request, sink, [&](std::optional<TransferFailure>) { ++called; });
    run_rounds(loop, 3);
    const auto inner = loop.after(1h, [held, timer, transfer] {});
    loop.post([&called, held, timer, watch, transfer] { ++called; });
    loop.defer([&called, held, timer, watch, transfer] { ++called; });
    held.reset();
  }
  CHECK(gone.expired());
  CHECK(called == 0);
}

TEST_CASE("a transfer can be destroyed at any moment, and then no callback runs") {
  FakeUpstream server;
  server.queue_behaviour(
      R"({"answer":"one two three four five six seven","times":0,"token_delay_ms":1})");
  const HttpRequest request = testing::post(server.url() + "/v1/chat/completions", testing::kChat);
  EventLoop loop;
  size_t whole = 0;
  for (int moment = 0; moment < 60; ++moment) {
    CapturingSink sink;
    int done = 0;
    auto transfer =
        loop.start_transfer(request, sink, [&](std::optional<TransferFailure>) { ++done; });
    CHECK(done == 0);
    if (moment % 3 == 1) transfer->pause();
    if (moment % 3 == 2) {
      transfer->pause();
      transfer->resume();
    }
    run_rounds(loop, moment);
    transfer.reset();
    const int before = done;
    const size_t received = sink.text.size();
    run_rounds(loop, 3);
    CHECK(done == before);
    CHECK(done <= 1);
    CHECK(sink.text.size() == received);
    whole += done == 1;
  }
  CHECK(whole < 60);
}

TEST_CASE("a transfer may be destroyed by its completion callback") {
  FakeUpstream server;
  const HttpRequest good = testing::get(server.url() + "/v1/models");
  HttpRequest bad = good;
  bad.url = "http://127.0.0.1:1/";
  for (const HttpRequest* request : {&good, static_cast<const HttpRequest*>(&bad)}) {
    EventLoop loop;
    CapturingSink sink;
    std::unique_ptr<Transfer> transfer;
    int done = 0;
    bool failed = false;
    transfer = loop.start_transfer(*request, sink, [&](std::optional<TransferFailure> failure) {
      ++done;
      failed = failure.has_value();
      transfer.reset();
    });
    CHECK(done == 0);
    CHECK(run_until(loop, [&] { return done > 0; }));
    run_rounds(loop, 3);
    CHECK(done == 1);
    CHECK(failed == (request == &bad));
  }
}

TEST_CASE("one loop runs many transfers at once and keeps their connections") {
  FakeUpstream server;
  const HttpRequest request = testing::get(server.url() + "/v1/models");
  EventLoop loop;
  for (int turn = 0; turn < 2; ++turn) {
    std::vector<CapturingSink> sinks(20);
    std::vector<std::unique_ptr<Transfer>> transfers;
    size_t done = 0;
    for (CapturingSink& sink : sinks)
      transfers.push_back(
          loop.start_transfer(request, sink, [&](std::optional<TransferFailure> failure) {
            CHECK_FALSE(failure.has_value());
            ++done;
          }));
    CHECK(run_until(loop, [&] { return done == sinks.size(); }));
    for (const CapturingSink& sink : sinks) CHECK(sink.response_head.status == 200);
  }
  CHECK(server.connections() <= 20);
}

TEST_CASE("an event loop that was returned to the pool is reused") {
  EventLoopPool pool;
  const EventLoop* first = nullptr;
  {
    const EventLoopPool::Handle lease = pool.acquire();
    first = &*lease;
    const EventLoopPool::Handle other = pool.acquire();
    CHECK(&*other != first);
  }
  const EventLoopPool::Handle again = pool.acquire(), more = pool.acquire();
  CHECK((&*again == first || &*more == first));
}

}  // namespace event_loop_test
