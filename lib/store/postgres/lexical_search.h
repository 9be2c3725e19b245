// BM25 search. Posting lists of the query's terms are loaded from the server, scored here by the
// code that all stores share, and cached in memory until the index changes.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/index_reader.h"
#include "store/index_totals.h"
#include "store/postgres/connection.h"
#include "store/term_column_cache.h"

namespace stoka::store::postgres {

// Thread safe; each call passes a connection of its own, in a transaction that sees one snapshot.
class LexicalSearch {
 public:
  Result<std::vector<ScoredChunk>> search(Connection& connection, std::span<const QueryTerm> query,
                                          size_t k, const SearchFilter& filter);

 private:
  using Columns = std::map<std::string, TermColumnCache::Column>;

  // Adds the columns of those `terms` that are in the index.
  Result<> load(Connection& connection, std::span<const std::string> terms,
                const IndexTotals& totals, Columns& columns);

  TermColumnCache column_cache_;
};

}  // namespace stoka::store::postgres
