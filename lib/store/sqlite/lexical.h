// BM25 search. Postings of the terms that were asked for stay in memory until the index changes.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "search/scan.h"
#include "store/sqlite/database.h"
#include "store/sqlite/totals.h"
#include "store/store.h"

namespace stoka::store::sqlite {

// Thread safe; each call brings its own connection.
class Lexical {
 public:
  static constexpr size_t kMostBytes = size_t{256} << 20;

  explicit Lexical(size_t most_bytes = kMostBytes) : most_bytes_(most_bytes) {}

  Result<std::vector<ScoredChunk>> search(Database& database, std::span<const QueryTerm> query,
                                          size_t k, const SearchFilter& filter);
  // Of the postings in memory.
  size_t bytes() const;

 private:
  using Column = std::shared_ptr<const search::TermColumn>;
  struct Entry {
    std::string term;
    Column column;
  };

  // Numbers of the posting blocks that exist, ascending.
  Result<std::vector<int64_t>> blocks(Database& database, const Totals& totals);
  // Empty if no chunk has the term.
  Result<Column> column(Database& database, const std::string& term, const Totals& totals);
  Result<Column> load(Database& database, const std::string& term, const Totals& totals);
  // Drops what belongs to an older index. Call with the lock held.
  void follow(uint64_t generation);
  void keep(const std::string& term, const Column& column, uint64_t generation);

  const size_t most_bytes_;
  mutable std::mutex mutex_;
  uint64_t generation_ = 0;
  std::vector<int64_t> blocks_;  // empty: not read yet
  size_t bytes_ = 0;
  std::list<Entry> recent_;  // most recently used first
  std::unordered_map<std::string, std::list<Entry>::iterator> entries_;
};

}  // namespace stoka::store::sqlite
