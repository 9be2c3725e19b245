// BM25 search. Postings of the terms that were asked for stay in memory until the index changes.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/sqlite/connection.h"
#include "store/store.h"
#include "store/term_column_cache.h"
#include "store/index_totals.h"

namespace stoka::store::sqlite {

// Thread safe; each call brings its own connection.
class Lexical {
 public:
  Result<std::vector<ScoredChunk>> search(Database& database, std::span<const QueryTerm> query,
                                          size_t k, const SearchFilter& filter);

 private:
  using Column = TermColumns::Column;

  // Numbers of the posting blocks that exist, ascending.
  Result<std::vector<int64_t>> blocks(Database& database, const Totals& totals);
  // Null if no chunk has the term.
  Result<Column> column(Database& database, const std::string& term, const Totals& totals);
  Result<Column> load(Database& database, const std::string& term, const Totals& totals);

  TermColumns columns_;
  std::mutex mutex_;
  uint64_t blocks_generation_ = 0;
  std::vector<int64_t> blocks_;  // empty: not read yet
};

}  // namespace stoka::store::sqlite
