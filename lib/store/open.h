#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "store/store.h"

namespace stoka::store {

enum class OpenMode {
  read,        // must exist with a schema; turns are still stored if it can be written
  read_write,  // created and migrated when needed
};

struct OpenOptions {
  size_t connections = 5;  // to a server, at most
};

// "sqlite:PATH", a bare path, or "postgres://USER@HOST/DATABASE" ("postgresql://" too). Anything
// else is a config error that names the forms.
Result<std::unique_ptr<Store>> open(const std::string& url, OpenMode mode,
                                    const OpenOptions& options = {});

// The store that a URL names, for people: without a password.
std::string describe(const std::string& url);

}  // namespace stoka::store
