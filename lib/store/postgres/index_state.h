// Reads and writes the only row of stoka_index.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "store/index_totals.h"
#include "store/postgres/connection.h"

namespace stoka::store::postgres {

Result<IndexTotals> load_totals(Connection& connection);
Result<std::optional<IndexIdentity>> load_identity(Connection& connection);

// The save functions are called in a transaction of the index writer, which has locked the row.
Result<> save_totals(Connection& connection, const IndexTotals& totals);
Result<> save_identity(Connection& connection, const IndexIdentity& identity);

// The columns of the totals in a SELECT or RETURNING list, and the totals in a row of its result.
inline constexpr std::string_view kTotalsColumns =
    "generation, documents, chunks, total_length, vectors, dim, fitted_chunks, changed_since_fit, "
    "indexed_at, unfinished::int";
IndexTotals read_totals(const Rows& rows, size_t row);

// The data error for contents that are not consistent.
Error damaged();

}  // namespace stoka::store::postgres
