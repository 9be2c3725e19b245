#include "store/contract.h"

#include <doctest/doctest.h>

#include "store/open.h"
#include "store/temp_database.h"
#include "support/postgres.h"

namespace contract_test {

using namespace stoka;
using namespace stoka::store;

namespace {

Open opener(const std::string& url) {
  return [url]() -> std::unique_ptr<Store> {
    auto store = store::open(url, OpenMode::read_write);
    REQUIRE_MESSAGE(store, (store ? "" : store.error().message));
    return std::move(*store);
  };
}

// One backend answers one transaction after the other.
Abilities abilities() { return {.threads = testing::TestDatabase::many_backends() ? 50 : 5}; }

}  // namespace

TEST_CASE("SQLite keeps the index contract") {
  const TempPlace place;
  index_contract(opener("sqlite:" + place.db()));
}

TEST_CASE("SQLite keeps the search contract") {
  const TempPlace place;
  search_contract(opener("sqlite:" + place.db()));
}

TEST_CASE("SQLite keeps the session contract") {
  const TempPlace place;
  session_contract(opener("sqlite:" + place.db()));
}

TEST_CASE("PostgreSQL keeps the index contract") {
  const testing::TestDatabase database;
  index_contract(opener(database.url()), abilities());
}

TEST_CASE("PostgreSQL keeps the search contract") {
  const testing::TestDatabase database;
  search_contract(opener(database.url()), abilities());
}

TEST_CASE("PostgreSQL keeps the session contract") {
  const testing::TestDatabase database;
  session_contract(opener(database.url()), abilities());
}

}  // namespace contract_test
