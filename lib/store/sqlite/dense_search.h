// Exact search by cosine similarity. The vectors are cached in memory until the index changes.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/result.h"
#include "search/vectors.h"
#include "store/index_reader.h"
#include "store/index_totals.h"
#include "store/sqlite/connection.h"

namespace stoka::store::sqlite {

// The dense search; thread safe. Each call passes a connection of its own.
class DenseSearch {
 public:
  // Returns the best chunks. Fails with a config error if query and vectors differ in dimension.
  Result<std::vector<ScoredChunk>> search(Connection& connection, std::span<const float> query,
                                          size_t k, const SearchFilter& filter);

 private:
  using Table = std::shared_ptr<const search::VectorTable>;
  Result<Table> table(Connection& connection, const IndexTotals& totals);
  Result<Table> load(Connection& connection, const IndexTotals& totals) const;

  std::mutex mutex_;
  uint64_t generation_ = 0;
  Table table_;
};

}  // namespace stoka::store::sqlite
