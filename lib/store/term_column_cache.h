// An LRU cache of posting lists that are prepared for scoring. Thread safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "search/scan.h"

namespace stoka::store {

class TermColumnCache {
 public:
  using Column = std::shared_ptr<const search::TermColumn>;
  static constexpr size_t kMaxBytes = size_t{256} << 20;

  explicit TermColumnCache(size_t max_bytes = kMaxBytes) : max_bytes_(max_bytes) {}

  // Returns the column of a term in the given generation of the index; null if it is not cached. A
  // later generation empties the cache.
  Column get(const std::string& term, uint64_t generation);
  // Drops the least recently used columns while the cache is larger than max_bytes.
  void put(const std::string& term, const Column& column, uint64_t generation);
  size_t bytes() const;

 private:
  struct Entry {
    std::string term;
    Column column;
  };
  void advance_to(uint64_t generation);

  const size_t max_bytes_;
  mutable std::mutex mutex_;
  uint64_t generation_ = 0;
  std::list<Entry> recent_;  // entries by their last use, the most recent first
  std::unordered_map<std::string, std::list<Entry>::iterator> entries_;
  size_t bytes_ = 0;
};

}  // namespace stoka::store
