#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "store/store.h"

namespace stoka::store {

enum class OpenMode {
  read,        // the index must exist; turns are stored if the database is writable
  read_write,  // the database is created and migrated when needed
};

struct OpenOptions {
  size_t connections = 5;  // connections to a database server at most
};

// `url` is "sqlite:PATH", a path, or "postgres://USER@HOST/DATABASE" (or "postgresql://"). Anything
// else is a config error that lists these forms.
Result<std::unique_ptr<Store>> open(const std::string& url, OpenMode mode,
                                    const OpenOptions& options = {});

// The text of `url` without its password, for messages.
std::string describe(const std::string& url);

}  // namespace stoka::store
