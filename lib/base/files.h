// Reading and writing of whole files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"

namespace stoka {

// Returns the content of the file. A directory, an unreadable file and a file of more than
// max_bytes are data errors that name the path.
Result<std::string> read_file(const std::filesystem::path& path, uint64_t max_bytes);

// Writes the text to a temporary file beside the target and renames that file, so that a reader
// sees either the old text or the new one. `mode` is that of a new file; private data needs 0600.
Result<> write_file(const std::filesystem::path& path, std::string_view text, unsigned mode = 0644);

}  // namespace stoka
