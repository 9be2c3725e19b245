#include "terminal/history_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/files.h"
#include "terminal/style.h"
#include "text/normalize.h"

namespace stoka::terminal {
namespace {

constexpr uint64_t kMaxFileBytes = 64 << 20;
constexpr unsigned kPrivate = 0600;

class File {
 public:
  File(const std::filesystem::path& path, int flags)
      : fd_(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, kPrivate)) {}
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd() const { return fd_; }

  bool make_private() const {
    struct stat status {};
    if (::fstat(fd_, &status) != 0 || !S_ISREG(status.st_mode)) return false;
    return (status.st_mode & 0077) == 0 || ::fchmod(fd_, kPrivate) == 0;
  }

 private:
  int fd_;
};

tl::unexpected<Error> unusable(const std::filesystem::path& path, int number) {
  return fail(
      ErrorKind::data,
      fmt::format("the history file {} cannot be used: {}", path.string(), std::strerror(number)),
      "replace it by a regular file that you own, or remove it");
}

}  // namespace

Result<std::vector<std::string>> HistoryFile::load() const {
  std::vector<std::string> entries;
  {
    const File file(path_, O_RDONLY);
    if (file.fd() < 0) {
      if (errno == ENOENT) return entries;
      return unusable(path_, errno);
    }
    if (!file.make_private()) return unusable(path_, EPERM);
  }
  STOKA_ASSIGN(const std::string whole, read_file(path_, kMaxFileBytes));
  for (size_t begin = 0; begin < whole.size();) {
    const size_t end = std::min(whole.find('\n', begin), whole.size());
    std::string entry = sanitize_line(std::string_view(whole).substr(begin, end - begin));
    if (!entry.empty() && entry.size() <= kMaxEntryBytes) entries.push_back(std::move(entry));
    begin = end + 1;
  }
  if (entries.size() > kMaxEntries) {
    const bool cut = entries.size() >= 2 * kMaxEntries;
    entries.erase(entries.begin(), entries.end() - kMaxEntries);
    if (cut) {
      std::string kept;
      for (const std::string& entry : entries) kept += entry + '\n';
      STOKA_TRY(write_file(path_, kept, kPrivate));
    }
  }
  return entries;
}

Result<> HistoryFile::append(std::string_view entry) const {
  std::string line = text::collapse_whitespace(sanitize_line(entry));
  if (line.empty() || line.size() > kMaxEntryBytes) return {};
  line += '\n';
  std::error_code ignored;  // opening the file below reports the error
  std::filesystem::create_directories(path_.parent_path(), ignored);
  const File file(path_, O_WRONLY | O_APPEND | O_CREAT);
  if (file.fd() < 0) return unusable(path_, errno);
  if (!file.make_private()) return unusable(path_, EPERM);
  const ssize_t written = ::write(file.fd(), line.data(), line.size());
  if (written < 0) return unusable(path_, errno);
  if (static_cast<size_t>(written) != line.size()) return unusable(path_, ENOSPC);
  return {};
}

}  // namespace stoka::terminal
