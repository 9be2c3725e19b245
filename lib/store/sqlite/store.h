#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "store/open.h"
#include "store/store.h"

namespace stoka::store::sqlite {

// Opens the file at `path`; OpenMode::read_write creates and migrates it when needed.
Result<std::unique_ptr<Store>> open(const std::string& path, OpenMode mode);

}  // namespace stoka::store::sqlite
