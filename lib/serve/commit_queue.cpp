#include "serve/commit_queue.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <limits>
#include <utility>

namespace stoka::serve {
namespace {

constexpr size_t kMaxBatch = 64;  // turns in one transaction

}  // namespace

CommitQueue::CommitQueue(store::SessionStore& store)
    : store_(store),
      max_batch_(store.max_concurrent_commits() > 1 ? 1 : kMaxBatch),
      workers_(store.max_concurrent_commits(), std::numeric_limits<size_t>::max()) {}

void CommitQueue::add(TurnRecord turn, Callback done) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back({std::move(turn), std::move(done), std::chrono::steady_clock::now()});
  }
  workers_.post([this](std::chrono::nanoseconds) { commit_batch(); });
}

size_t CommitQueue::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size();
}

// There is a job for each turn, but one batch takes several turns, so a later job may find none.
void CommitQueue::commit_batch() {
  std::vector<Entry> batch;
  {
    const std::lock_guard lock(mutex_);
    const auto end =
        waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(waiting_.size(), max_batch_));
    batch.assign(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(end));
    waiting_.erase(waiting_.begin(), end);
  }
  if (batch.empty()) return;
  const auto start = std::chrono::steady_clock::now();
  std::vector<TurnRecord> turns;
  for (Entry& entry : batch) turns.push_back(std::move(entry.turn));
  std::vector<Result<Session>> sessions;
  try {
    sessions = store_.commit_turns(turns);
  } catch (const std::exception& thrown) {
    sessions.assign(turns.size(), fail(ErrorKind::internal, thrown.what()));
  }
  for (size_t i = 0; i < batch.size(); ++i)
    batch[i].done(std::move(sessions[i]), start - batch[i].since);
}

}  // namespace stoka::serve
