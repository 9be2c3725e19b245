// Notices changes of the files in a golden directory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace stoka::golden {

// Watches a golden directory. Not thread safe.
class DirectoryWatch {
 public:
  // Only changes from now on are noticed: make the watch before the directory is loaded.
  explicit DirectoryWatch(std::filesystem::path directory);

  // Whether a file was added, removed or written since the last call. A directory that cannot be
  // read is like an empty one.
  bool changed();

 private:
  struct FileState {
    std::string name;
    std::filesystem::file_time_type written;
    uintmax_t size = 0;
    bool operator==(const FileState&) const = default;
  };
  std::vector<FileState> look() const;

  std::filesystem::path directory_;
  std::vector<FileState> state_;
};

}  // namespace stoka::golden
