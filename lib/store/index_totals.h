// The totals of the index, which every change updates.
#pragma once

#include <cstdint>

#include "search/bm25.h"
#include "store/index_reader.h"

namespace stoka::store {

struct IndexTotals {
  uint64_t generation = 0;  // increases with every change of what a search can find
  uint64_t documents = 0;
  uint64_t chunks = 0;
  uint64_t total_length = 0;  // of all chunks, in terms
  uint64_t vectors = 0;
  uint64_t dim = 0;  // of the stored vectors; 0: none yet
  uint64_t fitted_chunks = 0;
  uint64_t changed_since_fit = 0;
  uint64_t indexed_at = 0;  // milliseconds since 1970; 0: no index run has finished
  uint64_t unfinished = 0;  // 1: changed since the last finished index run

  search::CorpusStats corpus() const { return {chunks, total_length}; }
  IndexStats stats() const;
};

}  // namespace stoka::store
