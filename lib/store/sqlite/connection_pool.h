// Connections for reading, shared by threads.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/sqlite/connection.h"

namespace stoka::store::sqlite {

// Thread safe. At most kMost connections; who comes later waits.
class Pool {
 public:
  static constexpr size_t kMost = 8;

  explicit Pool(std::unique_ptr<Database> first);

  class Lease {
   public:
    Lease(Pool& pool, std::unique_ptr<Database> database)
        : pool_(&pool), database_(std::move(database)) {}
    Lease(Lease&&) noexcept = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease();
    Database& operator*() const { return *database_; }
    Database* operator->() const { return database_.get(); }

   private:
    Pool* pool_;
    std::unique_ptr<Database> database_;
  };
  Result<Lease> take();

 private:
  void give_back(std::unique_ptr<Database> database);

  const std::string path_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<Database>> idle_;
  size_t open_ = 1;
};

}  // namespace stoka::store::sqlite
