// Turns that wait to be written to the store. Turns that arrive while the store is busy are
// committed together in one transaction, so that a busy server does not wait for the disk once for
// each turn.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/result.h"
#include "model/session.h"
#include "store/session_store.h"

namespace stoka::serve {

// Thread safe.
class CommitQueue {
 public:
  // Called on a thread of the queue with the session as it is now, or the error.
  using Callback = std::function<void(Result<Session>, std::chrono::nanoseconds waited)>;

  explicit CommitQueue(store::SessionStore& store);
  ~CommitQueue();  // commits the waiting turns first

  // The queue has no limit: a turn that was answered is never refused.
  void add(TurnRecord turn, Callback done);
  size_t waiting() const;

 private:
  struct Entry {
    TurnRecord turn;
    Callback done;
    std::chrono::steady_clock::time_point since;
  };
  void run();
  void commit(std::vector<Entry> batch);

  store::SessionStore& store_;
  const size_t max_batch_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Entry> waiting_;
  bool closing_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace stoka::serve
