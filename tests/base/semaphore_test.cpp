#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/gate.h"

namespace semaphore_test {

using namespace std::chrono_literals;
using stoka::ErrorKind;
using stoka::Gate;
using stoka::Result;

namespace {

// Waits until `count` requests are in the queue. Other threads are about to make them.
void wait_for_waiting(const Gate& gate, size_t count) {
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (gate.waiting() != count) {
    REQUIRE(std::chrono::steady_clock::now() < end);
    std::this_thread::yield();
  }
}

Gate::Pass must_enter(Gate& gate) {
  auto pass = gate.enter({});
  REQUIRE(pass.has_value());
  return std::move(*pass);
}

}  // namespace

TEST_CASE("no more permits are granted than exist") {
  Gate gate("embedder", {2, 0, 10s});
  Gate::Pass first = must_enter(gate);
  Gate::Pass second = must_enter(gate);
  const auto third = gate.enter({});
  REQUIRE_FALSE(third.has_value());
  CHECK(third.error().kind == ErrorKind::busy);
  CHECK(third.error().message == "embedder is busy: 0 callers are waiting already");

  first.leave();
  first.leave();  // a second release does nothing
  Gate::Pass fourth = must_enter(gate);
  CHECK_FALSE(gate.enter({}).has_value());
  // Moving a permit keeps it held; overwriting one releases it.
  Gate::Pass moved = std::move(fourth);
  CHECK_FALSE(gate.enter({}).has_value());
  moved = std::move(second);
  Gate::Pass fifth = must_enter(gate);
  CHECK_FALSE(gate.enter({}).has_value());
}

TEST_CASE("permits are granted in the order of the requests") {
  constexpr size_t kCallers = 8;
  Gate gate("embedder", {1, kCallers, 60s});
  Gate::Pass place = must_enter(gate);
  std::mutex mutex;
  std::vector<size_t> served;
  {
    std::vector<std::jthread> callers;
    for (size_t i = 0; i < kCallers; ++i) {
      callers.emplace_back([&, i] {
        const auto pass = gate.enter({});
        const std::lock_guard lock(mutex);
        if (pass) served.push_back(i);
      });
      wait_for_waiting(gate, i + 1);
    }
    const auto late = gate.enter({});
    REQUIRE_FALSE(late.has_value());
    CHECK(late.error().message == "embedder is busy: 8 callers are waiting already");
    place.leave();
  }
  CHECK(served == std::vector<size_t>{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(gate.waiting() == 0);
  must_enter(gate);
}

TEST_CASE("a request fails as busy when its wait is over") {
  Gate gate("embedder", {1, 5, 30ms});
  const Gate::Pass place = must_enter(gate);
  const auto pass = gate.enter({});
  REQUIRE_FALSE(pass.has_value());
  CHECK(pass.error().kind == ErrorKind::busy);
  CHECK(pass.error().message == "embedder is busy: no permit became free within 30 ms");
  CHECK(gate.waiting() == 0);

  const auto hurried = gate.enter({}, 20ms);
  REQUIRE_FALSE(hurried.has_value());
  CHECK(hurried.error().message == "embedder is busy: no permit became free within 20 ms");
}

TEST_CASE("a stop request removes the caller from the queue, and the next one moves up") {
  Gate gate("embedder", {1, 5, 60s});
  Gate::Pass place = must_enter(gate);
  std::optional<ErrorKind> first, second;
  std::atomic<bool> served = false;
  std::jthread one([&](std::stop_token stop) {
    const auto pass = gate.enter(stop);
    if (!pass) first = pass.error().kind;
  });
  wait_for_waiting(gate, 1);
  std::jthread two([&](std::stop_token) {
    const auto pass = gate.enter({});
    if (!pass) second = pass.error().kind;
    served = pass.has_value();
  });
  wait_for_waiting(gate, 2);

  one.request_stop();
  one.join();
  CHECK(first == ErrorKind::cancelled);
  CHECK(gate.waiting() == 1);
  place.leave();
  two.join();
  CHECK_FALSE(second.has_value());
  CHECK(served);
}

TEST_CASE("a caller whose stop was requested before gets no permit") {
  Gate gate("embedder", {1, 5, 60s});
  std::stop_source source;
  source.request_stop();
  const auto pass = gate.enter(source.get_token());
  REQUIRE_FALSE(pass.has_value());
  CHECK(pass.error().kind == ErrorKind::cancelled);
  must_enter(gate);
}

TEST_CASE("many threads never hold more permits than exist") {
  constexpr int kPlaces = 3;
  Gate gate("embedder", {kPlaces, 64, 60s});
  std::atomic<int> inside = 0, most = 0, served = 0;
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < 16; ++i)
      callers.emplace_back([&] {
        for (int j = 0; j < 50; ++j) {
          const auto pass = gate.enter({});
          if (!pass) continue;
          const int now = ++inside;
          int before = most;
          while (now > before && !most.compare_exchange_weak(before, now)) {
          }
          ++served;
          --inside;
        }
      });
  }
  CHECK(most <= kPlaces);
  CHECK(served == 16 * 50);
  CHECK(gate.waiting() == 0);
}

TEST_CASE("a ticket is granted through its callback when a permit is released") {
  Gate gate("embedder", {1, 2, 60s});
  int called = 0;
  auto first = gate.queue([&] { ++called; });
  REQUIRE(first.has_value());
  CHECK(first->granted());
  CHECK(called == 0);  // granted at once, so the callback is not called
  Gate::Pass place = first->take();
  CHECK_FALSE(first->granted());

  auto second = gate.queue([&] { ++called; });
  auto third = gate.queue([&] { called += 10; });
  REQUIRE(second.has_value());
  REQUIRE(third.has_value());
  CHECK_FALSE(second->granted());
  const auto fourth = gate.queue([] {});
  REQUIRE_FALSE(fourth.has_value());
  CHECK(fourth.error().kind == ErrorKind::busy);
  CHECK(fourth.error().message == "embedder is busy: 2 callers are waiting already");

  place.leave();
  CHECK(called == 1);
  CHECK(second->granted());
  CHECK_FALSE(third->granted());
  place = second->take();
  CHECK(gate.taken() == 1);
  place.leave();
  CHECK(called == 11);
}

TEST_CASE("a ticket that is destroyed passes its permit to the next request") {
  Gate gate("embedder", {1, 5, 60s});
  Gate::Pass place = must_enter(gate);
  int called = 0;
  auto waiting = gate.queue([&] { ++called; });
  auto behind = gate.queue([&] { called += 10; });
  auto last = gate.queue([&] { called += 100; });
  *waiting = {};  // before it was granted
  CHECK(gate.waiting() == 2);
  place.leave();
  CHECK(called == 10);
  *behind = {};  // granted, but not taken
  CHECK(called == 110);
  CHECK(gate.taken() == 1);
  Gate::Ticket moved = std::move(*last);
  CHECK(moved.granted());
  moved = {};
  CHECK(gate.taken() == 0);
  must_enter(gate);
}

TEST_CASE("tickets and blocking callers share one queue") {
  Gate gate("embedder", {1, 10, 60s});
  Gate::Pass place = must_enter(gate);
  std::mutex mutex;
  std::string served;
  const auto serve = [&](char name) {
    const std::lock_guard lock(mutex);
    served += name;
  };
  auto a = gate.queue([&] { serve('a'); });
  std::jthread b([&] {
    const auto pass = gate.enter({});
    if (pass) serve('b');
  });
  wait_for_waiting(gate, 2);
  auto c = gate.queue([&] { serve('c'); });
  place.leave();
  a->take().leave();
  b.join();
  CHECK(c->granted());
  CHECK(served == "abc");
}

}  // namespace semaphore_test
