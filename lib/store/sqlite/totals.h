// Figures about the whole index, kept in stoka_meta by every change of it.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "store/sqlite/database.h"
#include "store/store.h"

namespace stoka::store::sqlite {

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
};

Result<Totals> load_totals(Database& database);
Result<> save_totals(Database& database, const Totals& totals);

Result<std::optional<IndexIdentity>> load_identity(Database& database);
Result<> save_identity(Database& database, const IndexIdentity& identity);

}  // namespace stoka::store::sqlite
