#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "store/open.h"
#include "store/store.h"

namespace stoka::store::sqlite {

// The file at `path`: opened, and with OpenMode::read_write created and migrated when needed.
Result<std::unique_ptr<Store>> open(const std::string& path, OpenMode mode);

}  // namespace stoka::store::sqlite
