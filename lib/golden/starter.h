// Writes the golden files into a directory of the owner, to be edited.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "golden/golden.h"

namespace stoka::golden {

// Writes every built-in golden file into the directory, which is made if needed, with comments that
// say what the file is for. If there are `drafts`, they replace the examples that cite pages, since
// examples with pages of other sites are left out of the prompt anyway. A drafted exchange has only
// `visitor` and `stoka`, whose further lines are indented. Returns the names of the files. A golden
// file that exists already is a usage error, and then nothing is written.
Result<std::vector<std::string>> write_starter(const std::filesystem::path& directory,
                                               std::span<const GoldenExchange> drafts);

}  // namespace stoka::golden
