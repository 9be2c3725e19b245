#include "store/sqlite/database_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace stoka::store::sqlite {
namespace {

enum class PathStatus { regular_file, missing };

Result<PathStatus> check_path(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return PathStatus::missing;
    return fail(ErrorKind::data, "cannot open the database " + path + ": " + std::strerror(errno),
                "check the path and the permissions of its directories");
  }
  if (S_ISDIR(status.st_mode)) {
    return fail(ErrorKind::data, path + " is a directory, not a database",
                "name a file with --store");
  }
  if (!S_ISREG(status.st_mode)) {
    return fail(ErrorKind::data, path + " is not a regular file", "name a file with --store");
  }
  return PathStatus::regular_file;
}

Result<> make_directories(const std::filesystem::path& directory) {
  std::error_code error;
  if (directory.empty() || std::filesystem::exists(directory, error)) return {};
  STOKA_TRY(make_directories(directory.parent_path()));
  if (mkdir(directory.c_str(), 0700) == 0 || errno == EEXIST) return {};
  return fail(ErrorKind::data,
              "cannot create the directory " + directory.string() + ": " + std::strerror(errno),
              "check its permissions, or name another file with --store");
}

}  // namespace

Result<> require_file(const std::string& path) {
  STOKA_ASSIGN(const PathStatus found, check_path(path));
  if (found == PathStatus::regular_file) return {};
  return fail(ErrorKind::not_found, "there is no index at " + path, "run: stoka index PATH");
}

Result<> create_file(const std::string& path) {
  STOKA_ASSIGN(const PathStatus found, check_path(path));
  if (found == PathStatus::regular_file) return {};
  STOKA_TRY(make_directories(std::filesystem::path(path).parent_path()));
  // O_EXCL is needed: closing a file that SQLite has open in this process would release its locks.
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd >= 0) {
    close(fd);
    return {};
  }
  if (errno == EEXIST) return {};
  return fail(ErrorKind::data, "cannot create the database " + path + ": " + std::strerror(errno),
              "make its directory writable, or name another file with --store");
}

Result<IndexLock> IndexLock::acquire(const std::string& database_path) {
  const std::string path = database_path + ".index.lock";
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) {
    return fail(ErrorKind::data, "cannot create " + path + ": " + std::strerror(errno),
                "make the directory of the database writable");
  }
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    const int reason = errno;
    char holder[32] = {};
    const ssize_t size = pread(fd, holder, sizeof holder - 1, 0);
    close(fd);
    if (reason != EWOULDBLOCK) {
      return fail(ErrorKind::data, "cannot lock " + path + ": " + std::strerror(reason),
                  "keep the database on a local disk");
    }
    const std::string pid = size > 0 ? " (pid " + std::string(holder) + ")" : "";
    return fail(ErrorKind::busy, "another index run" + pid + " is writing " + database_path,
                "wait until it has finished, then run it again");
  }
  const std::string pid = std::to_string(getpid());
  // The process id is only used in the message above, so a failure to write it is harmless.
  if (ftruncate(fd, 0) == 0) static_cast<void>(pwrite(fd, pid.data(), pid.size(), 0) == 0);
  return IndexLock(fd);
}

IndexLock::IndexLock(IndexLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

IndexLock::~IndexLock() {
  if (fd_ < 0) return;
  static_cast<void>(ftruncate(fd_, 0) == 0);
  close(fd_);
}

}  // namespace stoka::store::sqlite
