#include "embed/ttl_cache.h"

#include <doctest/doctest.h>

namespace ttl_cache_test {

using namespace stoka;
using Cache = embed::TtlCache<int>;

constexpr std::chrono::minutes kTtl(1);

TEST_CASE("a value is cached until its time to live has passed or the cache is cleared") {
  FixedClock clock{Instant{}};
  Cache cache(clock, kTtl);
  int loads = 0;
  const auto load = [&]() -> Result<int> { return ++loads; };
  CHECK(cache.get(load).value() == 1);
  clock.advance(std::chrono::seconds(59));
  CHECK(cache.get(load).value() == 1);
  clock.advance(std::chrono::seconds(1));
  CHECK(cache.get(load).value() == 2);
  cache.clear();
  CHECK(cache.get(load).value() == 3);
}

TEST_CASE("a failed load is not cached, and does not bring back the expired value") {
  FixedClock clock{Instant{}};
  Cache cache(clock, kTtl);
  const auto failing = []() -> Result<int> { return fail(ErrorKind::unavailable, "down"); };
  CHECK(cache.get([]() -> Result<int> { return 1; }).value() == 1);
  clock.advance(std::chrono::minutes(1));
  CHECK_FALSE(cache.get(failing).has_value());
  CHECK_FALSE(cache.get(failing).has_value());
  CHECK(cache.get([]() -> Result<int> { return 2; }).value() == 2);
}

TEST_CASE("a failed load leaves the value that another load has stored meanwhile") {
  FixedClock clock{Instant{}};
  Cache cache(clock, kTtl);
  const auto other = []() -> Result<int> { return 7; };
  const auto overtaken = [&]() -> Result<int> {
    CHECK(cache.get(other).value() == 7);
    return fail(ErrorKind::unavailable, "down");
  };
  CHECK_FALSE(cache.get(overtaken).has_value());
  CHECK(cache.get([]() -> Result<int> { return 8; }).value() == 7);
}

}  // namespace ttl_cache_test
