#include "serve/commit_queue.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "store/open.h"
#include "support/temp_folder.h"

namespace commit_queue_test {

using namespace stoka;
using namespace std::chrono_literals;
using serve::CommitQueue;

namespace {

struct QueueFixture {
  testing::TempFolder folder;
  std::unique_ptr<store::Store> store =
      store::open("sqlite:" + (folder.path / "s.db").string(), store::OpenMode::read_write).value();
  SeededUuidSource ids{7};

  TurnRecord turn(const std::string& session) {
    TurnRecord out;
    out.session_id = session;
    out.visitor_id = "22222222-2222-4222-8222-222222222222";
    out.exchange = {"q", "a", {}};
    return out;
  }
};

}  // namespace

TEST_CASE("turns of one session are committed in order") {
  QueueFixture fixture;
  const std::string session = fixture.ids.uuid();
  std::mutex mutex;
  std::vector<int> turns;
  {
    CommitQueue queue(*fixture.store);
    for (int i = 0; i < 150; ++i)
      queue.add(fixture.turn(session),
                [&](Result<Session> stored, std::chrono::nanoseconds waited) {
                  const std::lock_guard lock(mutex);
                  CHECK(waited >= 0ns);
                  turns.push_back(stored ? stored->turns : -1);
                });
  }
  REQUIRE(turns.size() == 150);
  for (int i = 0; i < 150; ++i) CHECK(turns[static_cast<size_t>(i)] == i + 1);
  CHECK(fixture.store->session(session).value()->turns == 150);
}

TEST_CASE("every turn gets its result, and an invalid turn does not affect the others") {
  QueueFixture fixture;
  std::vector<std::string> sessions;
  for (int i = 0; i < 40; ++i) sessions.push_back(i % 7 == 3 ? "bad" : fixture.ids.uuid());
  std::vector<std::atomic<int>> callbacks(sessions.size());
  {
    CommitQueue queue(*fixture.store);
    for (size_t i = 0; i < sessions.size(); ++i)
      queue.add(fixture.turn(sessions[i]), [&, i](Result<Session> stored, auto) {
        ++callbacks[i];
        CHECK(stored.has_value() == (sessions[i] != "bad"));
        if (stored) CHECK(stored->id == sessions[i]);
      });
  }
  for (const auto& times : callbacks) CHECK(times == 1);
}

TEST_CASE("turns from many threads are all committed") {
  QueueFixture fixture;
  const std::string session = fixture.ids.uuid();
  std::atomic<int> callbacks = 0;
  {
    CommitQueue queue(*fixture.store);
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
          for (int j = 0; j < 50; ++j)
            queue.add(fixture.turn(session),
                      [&](Result<Session> stored, auto) { callbacks += stored.has_value(); });
        });
    }
    const auto end = std::chrono::steady_clock::now() + 20s;
    while (callbacks < 200 && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(1ms);
    CHECK(queue.waiting() == 0);
  }
  CHECK(callbacks == 200);
  CHECK(fixture.store->session(session).value()->turns == 200);
}

}  // namespace commit_queue_test
