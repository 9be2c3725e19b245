#include "store/sqlite/connection_pool.h"

#include <utility>

namespace stoka::store::sqlite {

ConnectionPool::ConnectionPool(std::unique_ptr<Connection> first) : path_(first->path()) {
  idle_.push_back(std::move(first));
}

ConnectionPool::Handle::~Handle() {
  if (connection_) pool_->release(std::move(connection_));
}

Result<ConnectionPool::Handle> ConnectionPool::acquire() {
  {
    std::unique_lock lock(mutex_);
    released_.wait(lock, [this] { return !idle_.empty() || open_ < kMaxConnections; });
    if (!idle_.empty()) {
      std::unique_ptr<Connection> connection = std::move(idle_.back());
      idle_.pop_back();
      return Handle(*this, std::move(connection));
    }
    ++open_;
  }
  auto opened = Connection::open(path_, Role::read);
  if (opened) return Handle(*this, std::move(*opened));
  {
    const std::lock_guard lock(mutex_);
    --open_;
  }
  released_.notify_one();
  return fail(std::move(opened).error());
}

void ConnectionPool::release(std::unique_ptr<Connection> connection) {
  {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(connection));
  }
  released_.notify_one();
}

}  // namespace stoka::store::sqlite
