// The database file and the lock of its index writer.
#pragma once

#include <string>

#include "base/result.h"

namespace stoka::store::sqlite {

// Returns an error unless `path` is a regular file: not_found if nothing is there, else data.
Result<> require_file(const std::string& path);

// Creates the file for its owner only (0600), and missing directories (0700). No error if it
// exists.
Result<> create_file(const std::string& path);

// A lock (flock) on PATH.index.lock, held while the index is written. The kernel releases it when
// the process ends for any reason. The lock excludes other writers in the same process too.
class IndexLock {
 public:
  // Takes the lock. Fails with a busy error that has the process id of the holder.
  static Result<IndexLock> acquire(const std::string& database_path);
  IndexLock(IndexLock&& other) noexcept;
  IndexLock& operator=(IndexLock&&) = delete;
  ~IndexLock();

 private:
  explicit IndexLock(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace stoka::store::sqlite
