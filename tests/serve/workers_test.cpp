#include "serve/workers.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace workers_test {

using namespace std::chrono_literals;
using stoka::serve::Workers;

namespace {

// Holds a worker until it is opened.
struct Door {
  std::promise<void> at_it, open;
  std::shared_future<void> opened = open.get_future().share();

  Workers::Job job() {
    return [this](std::chrono::nanoseconds) {
      at_it.set_value();
      opened.wait();
    };
  }
};

}  // namespace

TEST_CASE("one worker does its jobs in the order in which they came") {
  std::vector<int> done;
  {
    Workers workers(1, 1000);
    for (int i = 0; i < 100; ++i)
      REQUIRE(workers.post([&done, i](std::chrono::nanoseconds late) {
        CHECK(late >= 0ns);
        done.push_back(i);
      }));
  }
  CHECK(done.size() == 100);
  CHECK(std::is_sorted(done.begin(), done.end()));
}

TEST_CASE("as many may wait as said, and what is refused is not done") {
  Door door;
  std::atomic<int> done = 0;
  bool refused = false;
  {
    Workers workers(1, 2);
    REQUIRE(workers.post(door.job()));
    door.at_it.get_future().wait();
    CHECK(workers.waiting() == 0);
    for (int i = 0; i < 2; ++i) CHECK(workers.post([&](std::chrono::nanoseconds) { ++done; }));
    CHECK(workers.waiting() == 2);
    refused = !workers.post([&](std::chrono::nanoseconds) { done += 100; });
    door.open.set_value();
  }
  CHECK(refused);
  CHECK(done == 2);
}

TEST_CASE("two workers work at the same time") {
  Door one, two;
  Workers workers(2, 10);
  REQUIRE(workers.post(one.job()));
  REQUIRE(workers.post(two.job()));
  one.at_it.get_future().wait();
  two.at_it.get_future().wait();
  one.open.set_value();
  two.open.set_value();
}

TEST_CASE("a job may post another one, and may be the last to hold something") {
  std::promise<void> second;
  auto held = std::make_shared<int>(1);
  std::weak_ptr<int> gone = held;
  Workers workers(1, 10);
  workers.post([&, held = std::move(held)](std::chrono::nanoseconds) {
    // It goes before the next job begins.
    workers.post([&](std::chrono::nanoseconds) {
      CHECK(gone.expired());
      second.set_value();
    });
  });
  second.get_future().wait();
}

TEST_CASE("many threads post, and all is done once") {
  std::atomic<int> done = 0;
  {
    Workers workers(4, 100000);
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&] {
        for (int j = 0; j < 500; ++j) workers.post([&](std::chrono::nanoseconds) { ++done; });
      });
  }
  CHECK(done == 4000);
}

}  // namespace workers_test
