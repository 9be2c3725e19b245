// Connections for reading, shared by all threads.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/sqlite/connection.h"

namespace stoka::store::sqlite {

// Thread safe. Opens at most kMaxConnections; acquire() waits while all are in use.
class ConnectionPool {
 public:
  static constexpr size_t kMaxConnections = 8;

  explicit ConnectionPool(std::unique_ptr<Connection> first);

  // Returns its connection to the pool when it is destroyed.
  class Handle {
   public:
    Handle(ConnectionPool& pool, std::unique_ptr<Connection> connection)
        : pool_(&pool), connection_(std::move(connection)) {}
    Handle(Handle&&) noexcept = default;
    Handle& operator=(Handle&&) = delete;
    ~Handle();
    Connection& operator*() const { return *connection_; }
    Connection* operator->() const { return connection_.get(); }

   private:
    ConnectionPool* pool_;
    std::unique_ptr<Connection> connection_;
  };
  Result<Handle> acquire();

 private:
  void release(std::unique_ptr<Connection> connection);

  const std::string path_;
  std::mutex mutex_;
  std::condition_variable released_;
  std::vector<std::unique_ptr<Connection>> idle_;
  size_t open_ = 1;
};

}  // namespace stoka::store::sqlite
