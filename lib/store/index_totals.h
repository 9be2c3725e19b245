// Figures about the whole index, kept by every change of it, and how it was made.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "search/bm25.h"
#include "store/store.h"

namespace stoka::store {

struct Totals {
  uint64_t generation = 0;  // rises with every change of what can be found
  uint64_t documents = 0;
  uint64_t chunks = 0;
  uint64_t total_length = 0;  // of all chunks, in terms
  uint64_t vectors = 0;
  uint64_t dim = 0;  // of the stored vectors; 0: none yet
  uint64_t fitted_chunks = 0;
  uint64_t changed_since_fit = 0;
  uint64_t indexed_at = 0;  // milliseconds; 0: no run has finished

  search::CorpusStats corpus() const { return {chunks, total_length}; }
  IndexStats stats(bool unfinished) const;
};

// An identity as the JSON object of its column; nothing if the text is no such object.
std::string identity_json(const IndexIdentity& identity);
std::optional<IndexIdentity> identity_from_json(std::string_view json);

}  // namespace stoka::store
