// The tables, their schema migrations, and the extension pgvector.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "store/postgres/database.h"

namespace stoka::store::postgres {

// The extension pgvector as it is installed in the database.
struct Extension {
  std::string schema;  // the schema of the extension's types and operators
  int major = 0;
  int minor = 0;
  uint32_t vector_oid = 0;
  bool at_least(int wanted_major, int wanted_minor) const {
    return major > wanted_major || (major == wanted_major && minor >= wanted_minor);
  }
};

struct Schema {
  std::string name;  // the schema of the tables: the current schema of the connection
  Extension vector;
};

// Creates the extension and the tables if they are missing, applies pending migrations and sets the
// search path of `database`. Several processes may call it at once. Errors: config (the extension
// cannot be created, the schema does not exist, missing privileges), data (a newer schema version,
// other tables with these names).
Result<Schema> migrate(Database& database);

// Checks the schema without changing the database: not_found if there are no tables, data if
// migrations are pending.
Result<Schema> check_schema(Database& database);

}  // namespace stoka::store::postgres
