// Posting lists kept ready for scoring while the index does not change. Thread safe.
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

class TermColumns {
 public:
  using Column = std::shared_ptr<const search::TermColumn>;
  static constexpr size_t kMostBytes = size_t{256} << 20;

  explicit TermColumns(size_t most_bytes = kMostBytes) : most_bytes_(most_bytes) {}

  // The column of a term in that generation of the index; null if it is not kept. A later
  // generation empties the cache.
  Column find(const std::string& term, uint64_t generation);
  // The least recently used go when there is too much.
  void keep(const std::string& term, const Column& column, uint64_t generation);
  size_t bytes() const;

 private:
  struct Entry {
    std::string term;
    Column column;
  };
  void follow(uint64_t generation);

  const size_t most_bytes_;
  mutable std::mutex mutex_;
  uint64_t generation_ = 0;
  std::list<Entry> recent_;  // most recent first
  std::unordered_map<std::string, std::list<Entry>::iterator> entries_;
  size_t bytes_ = 0;
};

}  // namespace stoka::store
