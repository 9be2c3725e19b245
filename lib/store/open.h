#pragma once

#include <memory>
#include <string>

#include "store/store.h"

namespace stoka::store {

enum class OpenMode {
  read,        // must exist with a schema; turns are still stored if the file can be written
  read_write,  // created and migrated when needed
};

// "sqlite:PATH" or a bare path. Anything else is a config error that names the forms.
Result<std::unique_ptr<Store>> open(const std::string& url, OpenMode mode);

}  // namespace stoka::store
