// Loading golden data from a directory.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "golden/golden.h"

namespace stoka::golden {

// Each golden file in the directory replaces the built-in one of the same name. The directory must
// hold at least one golden file. A file with another name is an error, because it is probably
// misspelled and would never be read. Ignored are subdirectories, README, LICENSE and CHANGELOG
// files, hidden files, and backup files of editors: names that end in ~, .swp, .bak, .orig, .rej or
// .tmp, or that begin and end with #. All errors are of kind config and name the file. `hint` is
// the hint of the error for a path that is not a golden directory.
Result<Golden> load_directory(const std::filesystem::path& directory, std::string_view hint = {});

}  // namespace stoka::golden
