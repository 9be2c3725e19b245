// The versions of the schema files in sql/: the number that a file's name begins with.
#pragma once

#include <cstdint>
#include <span>

#include "base/embedded.h"

namespace stoka::store {

// "0001_initial.sql" -> 1.
int64_t version_of(const EmbeddedFile& file);
// Of files in order of their names; 0 if there are none.
int64_t newest_version(std::span<const EmbeddedFile> files);

}  // namespace stoka::store
