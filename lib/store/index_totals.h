// The totals of the index, which every change updates, and how the index was made.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "search/bm25.h"
#include "store/store.h"

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

  search::CorpusStats corpus() const { return {chunks, total_length}; }
  IndexStats stats(bool unfinished) const;
};

// An identity as a JSON object; nothing if the text is not one.
std::string identity_to_json(const IndexIdentity& identity);
std::optional<IndexIdentity> identity_from_json(std::string_view json);

}  // namespace stoka::store
