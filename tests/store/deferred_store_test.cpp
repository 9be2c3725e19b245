#include "store/deferred_store.h"

#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include "store/open.h"
#include "support/temp_folder.h"

namespace deferred_store_test {

using namespace stoka;
using namespace stoka::store;

TEST_CASE("a deferred store returns the last error until it can be opened") {
  testing::TempFolder folder;
  const std::string url = "sqlite:" + (folder / "late.db").string();
  int attempts = 0;
  const auto deferred =
      open_deferred("the store", 4, Error(ErrorKind::unavailable, "it is away"), [&] {
        ++attempts;
        return open(url, OpenMode::read);
      });
  CHECK(deferred->describe() == "the store");
  // Right after an attempt no other one is made.
  CHECK(deferred->stats().error().message == "it is away");
  CHECK(deferred->commit_turn({}).error().kind == ErrorKind::unavailable);
  CHECK(deferred->max_concurrent_commits() == 4);
  const std::vector<TurnRecord> turns(2);
  const auto commits = deferred->commit_turns(turns);
  REQUIRE(commits.size() == 2);
  CHECK(commits.back().error().message == "it is away");
  CHECK(attempts == 0);
  REQUIRE(open(url, OpenMode::read_write).has_value());
  bool opened = false;
  for (int i = 0; i < 1000 && !opened; ++i) {
    opened = deferred->stats().has_value();
    if (!opened) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  CHECK(opened);
  CHECK(attempts == 1);
  CHECK(deferred->documents().value().empty());
  CHECK_FALSE(deferred->identity().value().has_value());
  CHECK(attempts == 1);
}

TEST_CASE("a deferred store returns the error of the latest attempt to open it") {
  const auto deferred =
      open_deferred("the store", 4, Error(ErrorKind::unavailable, "it is away"),
                    []() -> Result<std::unique_ptr<Store>> {
                      return fail(ErrorKind::config, "it refuses the password", "set another");
                    });
  Error error;
  for (int i = 0; i < 1000 && error.kind != ErrorKind::config; ++i) {
    error = deferred->stats().error();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  CHECK(error.message == "it refuses the password");
  CHECK(error.hint == "set another");
}

}  // namespace deferred_store_test
