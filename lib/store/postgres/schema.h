// Tables, their versions, and the extension pgvector.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "store/postgres/database.h"

namespace stoka::store::postgres {

// pgvector in this database.
struct Extension {
  std::string schema;  // where its type and operators are
  int major = 0;
  int minor = 0;
  uint32_t vector_oid = 0;
  bool at_least(int wanted_major, int wanted_minor) const {
    return major > wanted_major || (major == wanted_major && minor >= wanted_minor);
  }
};

struct Schema {
  std::string name;  // where the tables are: the connection's current schema
  Extension vector;
};

// Creates the extension and the tables where they are missing, and migrates older ones; sets the
// database's search path. Safe when several processes do it at once. Errors: config (extension
// missing and may not be created, no schema, no rights), data (newer schema, foreign tables of
// these names).
Result<Schema> migrate(Database& database);

// The same without changing anything: not_found if there are no tables, data if they are older.
Result<Schema> check_schema(Database& database);

}  // namespace stoka::store::postgres
