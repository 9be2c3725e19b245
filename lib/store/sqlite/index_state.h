// Reads and writes stoka_meta: the totals of the index and how it was made.
#pragma once

#include <optional>

#include "base/result.h"
#include "store/index_totals.h"
#include "store/sqlite/connection.h"

namespace stoka::store::sqlite {

Result<IndexTotals> load_totals(Connection& connection);
Result<> save_totals(Connection& connection, const IndexTotals& totals);

Result<std::optional<IndexIdentity>> load_identity(Connection& connection);
Result<> save_identity(Connection& connection, const IndexIdentity& identity);

// Whether an unfinished run wrote chunks: in older files there is no other mark of such a run.
Result<bool> has_unfinished_chunks(Connection& connection);

}  // namespace stoka::store::sqlite
