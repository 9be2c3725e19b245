// Turns that wait to be written to the store. Turns that arrive while the store is busy are
// committed together in one transaction, so that a busy server does not wait for the disk once for
// each turn.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <vector>

#include "base/result.h"
#include "model/session.h"
#include "serve/worker_pool.h"
#include "store/session_store.h"

namespace stoka::serve {

// Stores finished turns in batches. Thread safe.
class CommitQueue {
 public:
  // The queue calls this on one of its threads, with the session after the turn or with the error.
  using Callback = std::function<void(Result<Session>, std::chrono::nanoseconds waited)>;

  explicit CommitQueue(
      store::SessionStore& store);  // the queue's destructor commits the waiting turns to the store

  // Adds a turn. The queue has no limit: an answered turn is never refused.
  void add(TurnRecord turn, Callback done);
  size_t waiting() const;

 private:
  struct Entry {
    TurnRecord turn;
    Callback done;
    std::chrono::steady_clock::time_point since;
  };
  void commit_batch();

  store::SessionStore& store_;
  const size_t max_batch_;
  mutable std::mutex mutex_;
  std::vector<Entry> waiting_;
  WorkerPool workers_;  // declared last, so that its jobs end before anything else is destroyed
};

}  // namespace stoka::serve
