// The row of stoka_index.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "store/postgres/connection.h"
#include "store/store.h"
#include "store/index_totals.h"

namespace stoka::store::postgres {

Result<Totals> load_totals(Connection& connection);
Result<std::optional<IndexIdentity>> load_identity(Connection& connection);
// Whether an index run is under way or did not come to its end.
Result<bool> load_unfinished(Connection& connection);

// Within the writer's transaction; the row is locked.
Result<> save_totals(Connection& connection, const Totals& totals, bool unfinished);
Result<> save_identity(Connection& connection, const IndexIdentity& identity);

// For statements that give the totals: their columns, and what is in them.
inline constexpr std::string_view kTotalsColumns =
    "generation, documents, chunks, total_length, vectors, dim, fitted_chunks, changed_since_fit, "
    "indexed_at";
Totals read_totals(const Rows& rows, size_t row);

// What the database holds that it should not.
Error damaged();

}  // namespace stoka::store::postgres
