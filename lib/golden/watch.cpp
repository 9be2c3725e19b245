#include "golden/watch.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace stoka::golden {

DirectoryWatch::DirectoryWatch(std::filesystem::path directory)
    : directory_(std::move(directory)), state_(look()) {}

bool DirectoryWatch::changed() {
  std::vector<FileState> now = look();
  if (now == state_) return false;
  state_ = std::move(now);
  return true;
}

std::vector<DirectoryWatch::FileState> DirectoryWatch::look() const {
  std::vector<FileState> out;
  std::error_code error;
  std::filesystem::directory_iterator at(directory_, error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    std::error_code ignored;
    FileState file{at->path().filename().string(), at->last_write_time(ignored), 0};
    file.size = at->file_size(ignored);
    out.push_back(std::move(file));
  }
  std::sort(out.begin(), out.end(),
            [](const FileState& a, const FileState& b) { return a.name < b.name; });
  return out;
}

}  // namespace stoka::golden
