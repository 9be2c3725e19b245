#include "serve/commits.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

namespace stoka::serve {
namespace {

constexpr size_t kMostTogether = 64;

}  // namespace

Commits::Commits(store::Store& store)
    : store_(store), most_together_(store.commits_at_a_time() > 1 ? 1 : kMostTogether) {
  for (size_t i = 0; i < store.commits_at_a_time(); ++i) threads_.emplace_back([this] { work(); });
}

Commits::~Commits() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  threads_.clear();
}

void Commits::add(TurnRecord turn, Done done) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back({std::move(turn), std::move(done), std::chrono::steady_clock::now()});
  }
  changed_.notify_one();
}

size_t Commits::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size();
}

void Commits::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const auto end =
        waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(waiting_.size(), most_together_));
    std::vector<Entry> taken(std::make_move_iterator(waiting_.begin()),
                             std::make_move_iterator(end));
    waiting_.erase(waiting_.begin(), end);
    lock.unlock();
    commit(std::move(taken));
    lock.lock();
  }
}

void Commits::commit(std::vector<Entry> taken) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<TurnRecord> turns;
  for (Entry& entry : taken) turns.push_back(std::move(entry.turn));
  std::vector<Result<Session>> sessions;
  try {
    sessions = store_.commit_turns(turns);
  } catch (const std::exception& thrown) {
    sessions.assign(turns.size(), fail(ErrorKind::internal, thrown.what()));
  }
  for (size_t i = 0; i < taken.size(); ++i)
    taken[i].done(std::move(sessions[i]), start - taken[i].since);
}

}  // namespace stoka::serve
