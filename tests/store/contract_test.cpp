#include "store/contract.h"

#include <doctest/doctest.h>

#include "store/open.h"
#include "store/temp_database.h"
#include "support/postgres.h"

namespace contract_test {

using namespace stoka;
using namespace stoka::store;

namespace {

OpenStore opener(const std::string& url) {
  return [url]() -> std::unique_ptr<Store> {
    auto store = store::open(url, OpenMode::read_write);
    REQUIRE_MESSAGE(store, (store ? "" : store.error().message));
    return std::move(*store);
  };
}

// A single backend executes transactions one after the other.
ContractLimits limits() { return {.threads = testing::TestDatabase::has_many_backends() ? 50 : 5}; }

}  // namespace

TEST_CASE("SQLite passes the index contract") {
  const TempDatabase temp;
  index_contract(opener("sqlite:" + temp.db()));
}

TEST_CASE("SQLite passes the search contract") {
  const TempDatabase temp;
  search_contract(opener("sqlite:" + temp.db()));
}

TEST_CASE("SQLite passes the session contract") {
  const TempDatabase temp;
  session_contract(opener("sqlite:" + temp.db()));
}

TEST_CASE("PostgreSQL passes the index contract") {
  const testing::TestDatabase database;
  index_contract(opener(database.url()), limits());
}

TEST_CASE("PostgreSQL passes the search contract") {
  const testing::TestDatabase database;
  search_contract(opener(database.url()), limits());
}

TEST_CASE("PostgreSQL passes the session contract") {
  const testing::TestDatabase database;
  session_contract(opener(database.url()), limits());
}

}  // namespace contract_test
