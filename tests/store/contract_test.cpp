#include "store/contract.h"

#include <doctest/doctest.h>

#include "store/open.h"
#include "store/temp_place.h"

using namespace stoka;
using namespace stoka::store;

namespace {

Open opener(const TempPlace& place) {
  return [url = "sqlite:" + place.db()]() -> std::unique_ptr<Store> {
    auto store = store::open(url, OpenMode::read_write);
    REQUIRE_MESSAGE(store, (store ? "" : store.error().message));
    return std::move(*store);
  };
}

}  // namespace

TEST_CASE("SQLite keeps the index contract") {
  const TempPlace place;
  index_contract(opener(place));
}

TEST_CASE("SQLite keeps the search contract") {
  const TempPlace place;
  search_contract(opener(place));
}

TEST_CASE("SQLite keeps the session contract") {
  const TempPlace place;
  session_contract(opener(place));
}
