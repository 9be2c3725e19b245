#pragma once

#include <string>

#include "support/temp_folder.h"

namespace stoka::store {

// A temporary folder for one SQLite database.
struct TempDatabase : testing::TempFolder {
  std::string directory() const { return path.string(); }
  std::string db() const { return (path / "stoka.db").string(); }
};

}  // namespace stoka::store
