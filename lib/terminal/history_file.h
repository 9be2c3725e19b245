// The file that keeps lines typed in the REPL for later runs.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stoka::terminal {

// A history with one entry per line, oldest first, in a file that only its owner can read. Each
// entry is appended with one write, so that several processes can share the file. A symbolic link
// is refused.
class HistoryFile {
 public:
  static constexpr size_t kMaxEntries = 1000;
  static constexpr size_t kMaxEntryBytes = 16 * 1024;

  explicit HistoryFile(std::filesystem::path path) : path_(std::move(path)) {}

  // Returns the last kMaxEntries entries, or none if the file does not exist. Shortens a file that
  // has at least twice as many entries. Removes the permissions of other users.
  Result<std::vector<std::string>> load() const;

  // Creates the file and its directory if necessary. The entry is reduced to one line. An entry
  // that is empty or too long is ignored.
  Result<> append(std::string_view entry) const;

 private:
  std::filesystem::path path_;
};

}  // namespace stoka::terminal
