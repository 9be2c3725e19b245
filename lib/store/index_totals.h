// The totals of the index, which are updated by every change.
#pragma once

#include <cstdint>

#include "search/bm25.h"
#include "store/index_reader.h"

namespace stoka::store {

struct IndexTotals {
  uint64_t generation = 0;  // a number that increases with every change of what a search can find
  uint64_t documents = 0;
  uint64_t chunks = 0;
  uint64_t total_length = 0;  // the length of all chunks together, in terms
  uint64_t vectors = 0;
  uint64_t dim = 0;  // the dimension of the stored vectors; 0 while there are none
  uint64_t fitted_chunks = 0;
  uint64_t changed_since_fit = 0;
  uint64_t indexed_at = 0;  // when the last index run finished, in ms since 1970; 0 if none has
  uint64_t unfinished = 0;  // 1 if the index has changed since the last finished index run

  search::CorpusStats corpus() const { return {chunks, total_length}; }
  IndexStats stats() const;
};

}  // namespace stoka::store
