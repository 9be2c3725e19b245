// BM25 search. Posting lists are cached in memory until the index changes.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/index_reader.h"
#include "store/index_totals.h"
#include "store/sqlite/connection.h"
#include "store/term_column_cache.h"

namespace stoka::store::sqlite {

// The lexical search; thread safe. Each call passes a connection of its own.
class LexicalSearch {
 public:
  Result<std::vector<ScoredChunk>> search(Connection& connection, std::span<const QueryTerm> query,
                                          size_t k, const SearchFilter& filter);

 private:
  using Column = TermColumnCache::Column;

  // The numbers of the existing posting blocks, ascending.
  Result<std::vector<int64_t>> blocks(Connection& connection, const IndexTotals& totals);
  // The postings of a term; null if no chunk has it.
  Result<Column> column(Connection& connection, const std::string& term, const IndexTotals& totals);
  Result<Column> load(Connection& connection, const std::string& term, const IndexTotals& totals);

  TermColumnCache column_cache_;
  std::mutex mutex_;
  uint64_t blocks_generation_ = 0;
  std::vector<int64_t> blocks_;  // numbers of blocks; empty if not loaded yet
};

}  // namespace stoka::store::sqlite
