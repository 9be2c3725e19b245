// What was typed before, across runs.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stoka::terminal {

// One entry per line, oldest first, in a file that only its owner can read. Entries are appended
// one write at a time, so that several programs may keep the same file. A symbolic link in its
// place is refused.
class HistoryFile {
 public:
  static constexpr size_t kMaxEntries = 1000;
  static constexpr size_t kMaxEntryBytes = 16 * 1024;

  explicit HistoryFile(std::filesystem::path path) : path_(std::move(path)) {}

  // The last kMaxEntries entries; none if there is no file yet. A file that has grown to twice as
  // many is cut, and one that others can read is closed to them.
  Result<std::vector<std::string>> load() const;

  // Makes the file and its directory if need be. The entry becomes one line; one that is empty or
  // too long is not kept.
  Result<> append(std::string_view entry) const;

 private:
  std::filesystem::path path_;
};

}  // namespace stoka::terminal
