// Exact cosine search. The vectors stay in memory until the index changes.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/result.h"
#include "search/vectors.h"
#include "store/sqlite/connection.h"
#include "store/store.h"
#include "store/index_totals.h"

namespace stoka::store::sqlite {

// Thread safe; each call brings its own connection.
class Dense {
 public:
  // A query of another dimension than the stored vectors is a config error.
  Result<std::vector<ScoredChunk>> search(Database& database, std::span<const float> query,
                                          size_t k, const SearchFilter& filter);

 private:
  using Table = std::shared_ptr<const search::VectorTable>;
  Result<Table> table(Database& database, const Totals& totals);
  Result<Table> load(Database& database, const Totals& totals) const;

  std::mutex mutex_;
  uint64_t generation_ = 0;
  Table table_;
};

}  // namespace stoka::store::sqlite
