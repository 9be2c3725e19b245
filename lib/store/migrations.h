// The versions of the embedded schema migrations in sql/.
#pragma once

#include <charconv>
#include <cstdint>
#include <span>

#include "base/embedded.h"

namespace stoka::store {

// The number that the file's name begins with: 1 for "0001_initial.sql".
inline int64_t migration_version(const EmbeddedFile& file) {
  int64_t version = 0;
  std::from_chars(file.name.data(), file.name.data() + file.name.size(), version);
  return version;
}

// The latest version; 0 if there are no files. `files` are ordered by name.
inline int64_t latest_migration_version(std::span<const EmbeddedFile> files) {
  return files.empty() ? 0 : migration_version(files.back());
}

}  // namespace stoka::store
