#include "store/index_totals.h"

#include "store/json_columns.h"

namespace stoka::store {

IndexStats IndexTotals::stats() const {
  IndexStats stats;
  stats.documents = documents;
  stats.chunks = chunks;
  stats.vectors = vectors;
  stats.dim = static_cast<int>(dim);
  stats.fitted_chunks = fitted_chunks;
  stats.changed_since_fit = fitted_chunks ? changed_since_fit : 0;
  stats.generation = generation;
  if (indexed_at != 0) stats.indexed_at = instant(static_cast<int64_t>(indexed_at));
  stats.unfinished = unfinished != 0;
  return stats;
}

}  // namespace stoka::store
