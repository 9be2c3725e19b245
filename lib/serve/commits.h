// Turns on their way into the store. What comes while the store is busy with others goes in
// together, so that a busy server does not wait for the disk turn by turn.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/result.h"
#include "model/session.h"
#include "store/store.h"

namespace stoka::serve {

// Threads: any.
class Commits {
 public:
  // On a thread of its own.
  using Done = std::function<void(Result<Session>, std::chrono::nanoseconds waited)>;

  explicit Commits(store::Store& store);
  ~Commits();  // stores what waits first

  // Never refuses: a turn that was answered is to be kept.
  void add(TurnRecord turn, Done done);
  size_t waiting() const;

 private:
  struct Entry {
    TurnRecord turn;
    Done done;
    std::chrono::steady_clock::time_point since;
  };
  void work();
  void commit(std::vector<Entry> taken);

  store::Store& store_;
  const size_t most_together_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Entry> waiting_;
  bool closing_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace stoka::serve
