#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"

namespace stoka {

// The whole file. A directory, an unreadable file or one above max_bytes is a data error that names
// the path.
Result<std::string> read_file(const std::filesystem::path& path, uint64_t max_bytes);

// Writes next to the file and renames, so that a reader sees the old text or the new. mode: 0600
// for what is private.
Result<> write_file(const std::filesystem::path& path, std::string_view text, unsigned mode = 0644);

}  // namespace stoka
