// What stoka_meta keeps: the totals of the index and how it was made.
#pragma once

#include <optional>

#include "base/result.h"
#include "store/sqlite/connection.h"
#include "store/store.h"
#include "store/index_totals.h"

namespace stoka::store::sqlite {

Result<Totals> load_totals(Database& database);
Result<> save_totals(Database& database, const Totals& totals);

Result<std::optional<IndexIdentity>> load_identity(Database& database);
Result<> save_identity(Database& database, const IndexIdentity& identity);

// Whether an index run is under way or did not come to its end.
Result<bool> load_unfinished(Database& database);

}  // namespace stoka::store::sqlite
