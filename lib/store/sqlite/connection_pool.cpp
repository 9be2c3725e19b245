#include "store/sqlite/connection_pool.h"

#include <utility>

namespace stoka::store::sqlite {

Pool::Pool(std::unique_ptr<Database> first) : path_(first->path()) {
  idle_.push_back(std::move(first));
}

Pool::Lease::~Lease() {
  if (database_) pool_->give_back(std::move(database_));
}

Result<Pool::Lease> Pool::take() {
  {
    std::unique_lock lock(mutex_);
    returned_.wait(lock, [this] { return !idle_.empty() || open_ < kMost; });
    if (!idle_.empty()) {
      std::unique_ptr<Database> database = std::move(idle_.back());
      idle_.pop_back();
      return Lease(*this, std::move(database));
    }
    ++open_;
  }
  auto opened = Database::open(path_, Role::read);
  if (opened) return Lease(*this, std::move(*opened));
  {
    const std::lock_guard lock(mutex_);
    --open_;
  }
  returned_.notify_one();
  return fail(std::move(opened).error());
}

void Pool::give_back(std::unique_ptr<Database> database) {
  {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(database));
  }
  returned_.notify_one();
}

}  // namespace stoka::store::sqlite
