#include "store/term_column_cache.h"

namespace stoka::store {

TermColumnCache::Column TermColumnCache::get(const std::string& term, uint64_t generation) {
  const std::lock_guard lock(mutex_);
  advance_to(generation);
  if (generation != generation_) return nullptr;
  const auto found = entries_.find(term);
  if (found == entries_.end()) return nullptr;
  recent_.splice(recent_.begin(), recent_, found->second);
  return found->second->column;
}

void TermColumnCache::put(const std::string& term, const Column& column, uint64_t generation) {
  const std::lock_guard lock(mutex_);
  advance_to(generation);
  if (generation != generation_ || entries_.contains(term)) return;
  recent_.push_front({term, column});
  entries_.emplace(term, recent_.begin());
  bytes_ += column->bytes();
  while (bytes_ > max_bytes_ && !recent_.empty()) {
    bytes_ -= recent_.back().column->bytes();
    entries_.erase(recent_.back().term);
    recent_.pop_back();
  }
}

size_t TermColumnCache::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

void TermColumnCache::advance_to(uint64_t generation) {
  if (generation <= generation_) return;
  recent_.clear();
  entries_.clear();
  bytes_ = 0;
  generation_ = generation;
}

}  // namespace stoka::store
