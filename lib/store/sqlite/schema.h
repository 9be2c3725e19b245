// The schema and its migrations, which are compiled in from sql/sqlite.
#pragma once

#include "base/result.h"
#include "store/sqlite/connection.h"

namespace stoka::store::sqlite {

// A data error if the file has no schema, one that is newer than this program, or one that needs a
// migration first.
Result<> check_schema(Database& database);

// Brings the file to the newest schema: each migration is one transaction. Safe when several
// processes do it at once.
Result<> migrate(Database& database);

}  // namespace stoka::store::sqlite
