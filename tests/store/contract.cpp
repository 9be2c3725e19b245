#include "store/contract.h"

#include <doctest/doctest.h>

#include "store/open.h"

namespace stoka::store {

ContractStore::ContractStore() {
  SUBCASE("SQLite") { sqlite_.emplace(); }
  SUBCASE("PostgreSQL") { postgres_.emplace(); }
  store_ = open();
}

std::unique_ptr<Store> ContractStore::open() const {
  auto store =
      store::open(sqlite_ ? "sqlite:" + sqlite_->db() : postgres_->url(), OpenMode::read_write);
  REQUIRE_MESSAGE(store, (store ? "" : store.error().message));
  return std::move(*store);
}

// A single backend executes transactions one after the other.
int ContractStore::max_callers() const {
  return sqlite_ || testing::TestDatabase::has_many_backends() ? 50 : 5;
}

}  // namespace stoka::store
