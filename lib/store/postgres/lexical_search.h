// BM25 search. The server gives the posting lists of the terms that were asked for; they are scored
// here, by the code that scores those of every store, and stay in memory until the index changes.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/postgres/connection.h"
#include "store/store.h"
#include "store/term_column_cache.h"
#include "store/index_totals.h"

namespace stoka::store::postgres {

// Thread safe; each call brings its own connection, in a transaction that sees one snapshot.
class Lexical {
 public:
  Result<std::vector<ScoredChunk>> search(Connection& connection, std::span<const QueryTerm> query,
                                          size_t k, const SearchFilter& filter);

 private:
  using Columns = std::map<std::string, TermColumns::Column>;

  // Adds the columns of those terms that are in the index.
  Result<> load(Connection& connection, std::span<const std::string> terms, const Totals& totals,
                Columns& columns);

  TermColumns kept_;
};

}  // namespace stoka::store::postgres
