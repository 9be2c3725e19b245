// Turns on their way into the store. What comes while the store is busy with others goes in
// together, so that a busy server does not wait for the disk turn by turn.
#pragma once

#include <functional>
#include <mutex>
#include <vector>

#include "base/result.h"
#include "model/session.h"
#include "serve/workers.h"
#include "store/store.h"

namespace stoka::serve {

// Threads: any.
class Commits {
 public:
  // On a worker's thread.
  using Done = std::function<void(Result<Session>, std::chrono::nanoseconds waited)>;

  Commits(store::Store& store, Workers& workers) : store_(store), workers_(workers) {}

  // Never refuses: a turn that was answered is to be kept.
  void add(TurnRecord turn, Done done);

 private:
  struct Entry {
    TurnRecord turn;
    Done done;
    Workers::Time since;
  };
  void commit();

  store::Store& store_;
  Workers& workers_;
  std::mutex mutex_;
  std::vector<Entry> waiting_;
};

}  // namespace stoka::serve
