// Golden files of a directory in place of the built-in ones.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "golden/golden.h"

namespace stoka::golden {

// Files that the directory lacks are the built-in ones. It must hold at least one, and no other
// files, since a misnamed one would never be read. Passed over are subdirectories, README, LICENSE
// and CHANGELOG files, hidden files, and what editors leave behind: names that end in ~, .swp,
// .bak, .orig, .rej or .tmp, or stand between two #. Errors are config errors that name the file.
Result<Golden> load_directory(const std::filesystem::path& directory);

}  // namespace stoka::golden
