#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "store/open.h"
#include "store/postgres/database.h"
#include "store/store.h"

namespace stoka::store::postgres {

// The database at a postgres:// URL: its tables are created and migrated with OpenMode::read_write.
// Turns are stored with either mode.
Result<std::unique_ptr<Store>> open(const std::string& url, OpenMode mode,
                                    const DatabaseOptions& options = {});

}  // namespace stoka::store::postgres
