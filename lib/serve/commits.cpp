#include "serve/commits.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace stoka::serve {
namespace {

constexpr size_t kMostTogether = 64;

}  // namespace

void Commits::add(TurnRecord turn, Done done) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back({std::move(turn), std::move(done), std::chrono::steady_clock::now()});
  }
  // Whoever of them comes first takes all there are. A queue that is full has others coming.
  if (!workers_.post([this](std::chrono::nanoseconds) { commit(); })) commit();
}

void Commits::commit() {
  std::vector<Entry> taken;
  {
    const std::lock_guard lock(mutex_);
    const size_t count = std::min(waiting_.size(), kMostTogether);
    const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
    std::move(waiting_.begin(), end, std::back_inserter(taken));
    waiting_.erase(waiting_.begin(), end);
  }
  if (taken.empty()) return;
  const auto start = std::chrono::steady_clock::now();
  std::vector<TurnRecord> turns;
  for (Entry& entry : taken) turns.push_back(std::move(entry.turn));
  std::vector<Result<Session>> sessions = store_.commit_turns(turns);
  for (size_t i = 0; i < taken.size(); ++i)
    taken[i].done(std::move(sessions[i]), start - taken[i].since);
}

}  // namespace stoka::serve
