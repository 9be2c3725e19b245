// The database file itself and the lock of its indexer.
#pragma once

#include <string>

#include "base/result.h"

namespace stoka::store::sqlite {

// A data error with a hint if there is no file at `path` or it is something else.
Result<> require_file(const std::string& path);

// The same, but a missing file is created for its owner alone (0600), with its directories (0700).
Result<> create_file(const std::string& path);

// Held while an index is written. The kernel releases it when the process ends in any way. It
// excludes other holders in this process as well.
class IndexLock {
 public:
  // busy if someone holds it, with their process id.
  static Result<IndexLock> acquire(const std::string& database_path);
  IndexLock(IndexLock&& other) noexcept;
  IndexLock& operator=(IndexLock&&) = delete;
  ~IndexLock();

 private:
  explicit IndexLock(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace stoka::store::sqlite
