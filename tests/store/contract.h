// What every implementation of Store must do is tested in contract_*_test.cpp.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "store/store.h"
#include "store/temp_database.h"
#include "support/postgres.h"

namespace stoka::store {

// A store on a new database. A test case that makes one runs once for each kind of store, each time
// in a subcase with its name; so it can have no other subcases.
class ContractStore {
 public:
  ContractStore();

  Store* operator->() const { return store_.get(); }
  Store& operator*() const { return *store_; }
  // Another store on the same database.
  std::unique_ptr<Store> open() const;
  // How many callers the database can bear concurrently.
  int max_callers() const;

 private:
  std::optional<TempDatabase> sqlite_;
  std::optional<testing::TestDatabase> postgres_;
  std::unique_ptr<Store> store_;  // closed before the database is removed
};

}  // namespace stoka::store
