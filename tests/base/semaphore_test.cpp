#include "base/semaphore.h"

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace semaphore_test {

using namespace std::chrono_literals;
using stoka::ErrorKind;
using stoka::Result;
using stoka::Semaphore;

namespace {

// Waits until `count` requests are in the queue. Other threads are about to make them.
void wait_for_waiting(const Semaphore& semaphore, size_t count) {
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (semaphore.waiting() != count) {
    REQUIRE(std::chrono::steady_clock::now() < end);
    std::this_thread::yield();
  }
}

Semaphore::Permit must_acquire(Semaphore& semaphore) {
  auto permit = semaphore.acquire({});
  REQUIRE(permit.has_value());
  return std::move(*permit);
}

}  // namespace

TEST_CASE("no more permits are granted than exist") {
  Semaphore semaphore("embedder", {2, 0, 10s});
  Semaphore::Permit first = must_acquire(semaphore);
  Semaphore::Permit second = must_acquire(semaphore);
  const auto third = semaphore.acquire({});
  REQUIRE_FALSE(third.has_value());
  CHECK(third.error().kind == ErrorKind::busy);
  CHECK(third.error().message == "embedder is busy: 0 callers are waiting already");

  first.release();
  first.release();  // a second release does nothing
  Semaphore::Permit fourth = must_acquire(semaphore);
  CHECK_FALSE(semaphore.acquire({}).has_value());
  // Moving a permit keeps it held; overwriting one releases it.
  Semaphore::Permit moved = std::move(fourth);
  CHECK_FALSE(semaphore.acquire({}).has_value());
  moved = std::move(second);
  Semaphore::Permit fifth = must_acquire(semaphore);
  CHECK_FALSE(semaphore.acquire({}).has_value());
}

TEST_CASE("permits are granted in the order of the requests") {
  constexpr size_t kCallers = 8;
  Semaphore semaphore("embedder", {1, kCallers, 60s});
  Semaphore::Permit held = must_acquire(semaphore);
  std::mutex mutex;
  std::vector<size_t> served;
  {
    std::vector<std::jthread> callers;
    for (size_t i = 0; i < kCallers; ++i) {
      callers.emplace_back([&, i] {
        const auto permit = semaphore.acquire({});
        const std::lock_guard lock(mutex);
        if (permit) served.push_back(i);
      });
      wait_for_waiting(semaphore, i + 1);
    }
    const auto late = semaphore.acquire({});
    REQUIRE_FALSE(late.has_value());
    CHECK(late.error().message == "embedder is busy: 8 callers are waiting already");
    held.release();
  }
  CHECK(served == std::vector<size_t>{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(semaphore.waiting() == 0);
  must_acquire(semaphore);
}

TEST_CASE("a request fails as busy when its wait is over") {
  Semaphore semaphore("embedder", {1, 5, 30ms});
  const Semaphore::Permit held = must_acquire(semaphore);
  const auto permit = semaphore.acquire({});
  REQUIRE_FALSE(permit.has_value());
  CHECK(permit.error().kind == ErrorKind::busy);
  CHECK(permit.error().message == "embedder is busy: no permit became free within 30 ms");
  CHECK(semaphore.waiting() == 0);

  const auto shorter = semaphore.acquire({}, 20ms);
  REQUIRE_FALSE(shorter.has_value());
  CHECK(shorter.error().message == "embedder is busy: no permit became free within 20 ms");
}

TEST_CASE("a stop request removes the caller from the queue, and the next one moves up") {
  Semaphore semaphore("embedder", {1, 5, 60s});
  Semaphore::Permit held = must_acquire(semaphore);
  std::optional<ErrorKind> first, second;
  std::atomic<bool> served = false;
  std::jthread one([&](std::stop_token stop) {
    const auto permit = semaphore.acquire(stop);
    if (!permit) first = permit.error().kind;
  });
  wait_for_waiting(semaphore, 1);
  std::jthread two([&](std::stop_token) {
    const auto permit = semaphore.acquire({});
    if (!permit) second = permit.error().kind;
    served = permit.has_value();
  });
  wait_for_waiting(semaphore, 2);

  one.request_stop();
  one.join();
  CHECK(first == ErrorKind::cancelled);
  CHECK(semaphore.waiting() == 1);
  held.release();
  two.join();
  CHECK_FALSE(second.has_value());
  CHECK(served);
}

TEST_CASE("a caller that was stopped before it asks gets no permit") {
  Semaphore semaphore("embedder", {1, 5, 60s});
  std::stop_source source;
  source.request_stop();
  const auto permit = semaphore.acquire(source.get_token());
  REQUIRE_FALSE(permit.has_value());
  CHECK(permit.error().kind == ErrorKind::cancelled);
  must_acquire(semaphore);
}

TEST_CASE("many threads never hold more permits than exist") {
  constexpr int kPermits = 3;
  Semaphore semaphore("embedder", {kPermits, 64, 60s});
  std::atomic<int> holders = 0, max_holders = 0, served = 0;
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < 16; ++i)
      callers.emplace_back([&] {
        for (int j = 0; j < 50; ++j) {
          const auto permit = semaphore.acquire({});
          if (!permit) continue;
          const int now = ++holders;
          int before = max_holders;
          while (now > before && !max_holders.compare_exchange_weak(before, now)) {
          }
          ++served;
          --holders;
        }
      });
  }
  CHECK(max_holders <= kPermits);
  CHECK(served == 16 * 50);
  CHECK(semaphore.waiting() == 0);
}

TEST_CASE("a ticket is granted through its callback when a permit is released") {
  Semaphore semaphore("embedder", {1, 2, 60s});
  int called = 0;
  auto first = semaphore.queue([&] { ++called; });
  REQUIRE(first.has_value());
  CHECK(first->is_granted());
  CHECK(called == 0);  // granted at once, so the callback is not called
  Semaphore::Permit held = first->take();
  CHECK_FALSE(first->is_granted());

  auto second = semaphore.queue([&] { ++called; });
  auto third = semaphore.queue([&] { called += 10; });
  REQUIRE(second.has_value());
  REQUIRE(third.has_value());
  CHECK_FALSE(second->is_granted());
  const auto fourth = semaphore.queue([] {});
  REQUIRE_FALSE(fourth.has_value());
  CHECK(fourth.error().kind == ErrorKind::busy);
  CHECK(fourth.error().message == "embedder is busy: 2 callers are waiting already");

  held.release();
  CHECK(called == 1);
  CHECK(second->is_granted());
  CHECK_FALSE(third->is_granted());
  held = second->take();
  CHECK(semaphore.in_use() == 1);
  held.release();
  CHECK(called == 11);
}

TEST_CASE("a ticket that is destroyed passes its permit to the next request") {
  Semaphore semaphore("embedder", {1, 5, 60s});
  Semaphore::Permit held = must_acquire(semaphore);
  int called = 0;
  auto waiting = semaphore.queue([&] { ++called; });
  auto behind = semaphore.queue([&] { called += 10; });
  auto last = semaphore.queue([&] { called += 100; });
  *waiting = {};  // before it was granted
  CHECK(semaphore.waiting() == 2);
  held.release();
  CHECK(called == 10);
  *behind = {};  // granted, but not taken
  CHECK(called == 110);
  CHECK(semaphore.in_use() == 1);
  Semaphore::Ticket moved = std::move(*last);
  CHECK(moved.is_granted());
  moved = {};
  CHECK(semaphore.in_use() == 0);
  must_acquire(semaphore);
}

TEST_CASE("tickets and blocking callers share one queue") {
  Semaphore semaphore("embedder", {1, 10, 60s});
  Semaphore::Permit held = must_acquire(semaphore);
  std::mutex mutex;
  std::string served;
  const auto serve = [&](char name) {
    const std::lock_guard lock(mutex);
    served += name;
  };
  auto a = semaphore.queue([&] { serve('a'); });
  std::jthread b([&] {
    const auto permit = semaphore.acquire({});
    if (permit) serve('b');
  });
  wait_for_waiting(semaphore, 2);
  auto c = semaphore.queue([&] { serve('c'); });
  held.release();
  a->take().release();
  b.join();
  CHECK(c->is_granted());
  CHECK(served == "abc");
}

}  // namespace semaphore_test
