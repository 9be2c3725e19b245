#include "serve/worker_pool.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace worker_pool_test {

using namespace std::chrono_literals;
using stoka::serve::WorkerPool;

namespace {

// A job that blocks a worker until it is opened.
struct BlockingJob {
  std::promise<void> started, open;
  std::shared_future<void> opened = open.get_future().share();

  WorkerPool::Job job() {
    return [this](std::chrono::nanoseconds) {
      started.set_value();
      opened.wait();
    };
  }
};

}  // namespace

TEST_CASE("a single worker runs jobs in the order in which they were posted") {
  std::vector<int> done;
  {
    WorkerPool workers(1, 1000);
    for (int i = 0; i < 100; ++i)
      REQUIRE(workers.post([&done, i](std::chrono::nanoseconds waited) {
        CHECK(waited >= 0ns);
        done.push_back(i);
      }));
  }
  CHECK(done.size() == 100);
  CHECK(std::is_sorted(done.begin(), done.end()));
}

TEST_CASE("a full queue refuses jobs") {
  BlockingJob door;
  std::atomic<int> done = 0;
  bool refused = false;
  {
    WorkerPool workers(1, 2);
    REQUIRE(workers.post(door.job()));
    door.started.get_future().wait();
    CHECK(workers.waiting() == 0);
    for (int i = 0; i < 2; ++i) CHECK(workers.post([&](std::chrono::nanoseconds) { ++done; }));
    CHECK(workers.waiting() == 2);
    refused = !workers.post([&](std::chrono::nanoseconds) { done += 100; });
    door.open.set_value();
  }
  CHECK(refused);
  CHECK(done == 2);
}

TEST_CASE("two workers run jobs at the same time") {
  BlockingJob one, two;
  WorkerPool workers(2, 10);
  REQUIRE(workers.post(one.job()));
  REQUIRE(workers.post(two.job()));
  one.started.get_future().wait();
  two.started.get_future().wait();
  one.open.set_value();
  two.open.set_value();
}

TEST_CASE("a job may post another job, and is destroyed before the next one runs") {
  std::promise<void> second;
  auto held = std::make_shared<int>(1);
  std::weak_ptr<int> gone = held;
  WorkerPool workers(1, 10);
  workers.post([&, held = std::move(held)](std::chrono::nanoseconds) {
    // The job is destroyed before the next one begins.
    workers.post([&](std::chrono::nanoseconds) {
      CHECK(gone.expired());
      second.set_value();
    });
  });
  second.get_future().wait();
}

TEST_CASE("jobs posted by many threads are each run once") {
  std::atomic<int> done = 0;
  {
    WorkerPool workers(4, 100000);
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&] {
        for (int j = 0; j < 500; ++j) workers.post([&](std::chrono::nanoseconds) { ++done; });
      });
  }
  CHECK(done == 4000);
}

}  // namespace worker_pool_test
