#include "store/sqlite/dense_search.h"

#include <algorithm>

#include "store/sqlite/index_rows.h"
#include "store/sqlite/index_state.h"

namespace stoka::store::sqlite {

Result<std::vector<ScoredChunk>> DenseSearch::search(Connection& connection,
                                                     std::span<const float> query, size_t k,
                                                     const SearchFilter& filter) {
  STOKA_ASSIGN(Transaction snapshot, Transaction::begin(connection, Transaction::Kind::read));
  STOKA_ASSIGN(const IndexTotals totals, load_totals(connection));
  if (totals.vectors == 0) return std::vector<ScoredChunk>();
  STOKA_TRY(check_query(query, totals.dim));
  STOKA_ASSIGN(const Table vectors, table(connection, totals));
  STOKA_ASSIGN(const std::vector<ChunkId> excluded, excluded_chunks(connection, filter));
  std::vector<size_t> skip;
  for (const ChunkId id : excluded) {
    const auto row = std::lower_bound(vectors->ids.begin(), vectors->ids.end(), id);
    if (row != vectors->ids.end() && *row == id) {
      skip.push_back(static_cast<size_t>(row - vectors->ids.begin()));
    }
  }
  return rank_top_k(connection, search::top_k_with_ties(*vectors, query, k, skip), k);
}

Result<DenseSearch::Table> DenseSearch::table(Connection& connection, const IndexTotals& totals) {
  // The lock is held while loading: other threads need the same vectors, which take much memory.
  const std::lock_guard lock(mutex_);
  if (table_ && generation_ == totals.generation) return table_;
  if (totals.generation > generation_) table_.reset();
  STOKA_ASSIGN(const Table loaded, load(connection, totals));
  if (totals.generation > generation_) {
    table_ = loaded;
    generation_ = totals.generation;
  }
  return loaded;
}

Result<DenseSearch::Table> DenseSearch::load(Connection& connection,
                                             const IndexTotals& totals) const {
  auto vectors = std::make_shared<search::VectorTable>();
  vectors->dim = totals.dim;
  // The size is limited, because the number comes from the file and may be damaged.
  const auto expected = std::min<uint64_t>(totals.vectors, uint64_t{1} << 20);
  vectors->ids.reserve(expected);
  vectors->values.reserve(expected * totals.dim);
  Statement rows =
      connection.prepare("SELECT chunk_id, embedding FROM stoka_vectors ORDER BY chunk_id");
  for (;;) {
    STOKA_ASSIGN(const bool row, rows.step());
    if (!row) break;
    const std::vector<float> vector = search::decode_vector(rows.blob(1), totals.dim);
    if (vector.empty()) return fail(connection.damaged());
    vectors->ids.push_back(rows.integer(0));
    vectors->values.insert(vectors->values.end(), vector.begin(), vector.end());
  }
  return Table(std::move(vectors));
}

}  // namespace stoka::store::sqlite
