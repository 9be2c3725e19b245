#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "store/open.h"
#include "store/postgres/database.h"
#include "store/store.h"

namespace stoka::store::postgres {

// Opens the database at a postgres:// URL. OpenMode::read_write creates and migrates its tables.
// Turns are stored in either mode.
Result<std::unique_ptr<Store>> open(const std::string& url, OpenMode mode,
                                    const DatabaseOptions& options = {});

}  // namespace stoka::store::postgres
