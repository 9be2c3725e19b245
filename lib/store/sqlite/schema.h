// The schema and its migrations, which are embedded from sql/sqlite.
#pragma once

#include "base/result.h"
#include "store/sqlite/connection.h"

namespace stoka::store::sqlite {

// Returns a data error unless the file has the latest schema version.
Result<> check_schema(Connection& connection);

// Migrates the file to the latest schema version, with one transaction for each migration. Several
// processes may call it at once.
Result<> migrate(Connection& connection);

}  // namespace stoka::store::sqlite
