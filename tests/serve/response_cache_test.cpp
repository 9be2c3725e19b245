#include "serve/response_cache.h"

#include <doctest/doctest.h>

#include <string>

namespace response_cache_test {

using namespace std::chrono_literals;
using stoka::serve::ResponseCache;

TEST_CASE("a cache entry expires after its TTL, counted from put()") {
  ResponseCache cache(60s, 10);
  CHECK(cache.find("/", 0s) == nullptr);
  cache.put("/", "one", 100s);
  REQUIRE(cache.find("/", 100s) != nullptr);
  CHECK(*cache.find("/", 160s - 1ns) == "one");
  CHECK(cache.find("/", 160s) == nullptr);
  CHECK(cache.find("/x", 100s) == nullptr);
  cache.put("/", "two", 150s);
  CHECK(*cache.find("/", 209s) == "two");
  CHECK(cache.size() == 1);
}

TEST_CASE("a full cache drops expired entries, or all if none has expired") {
  ResponseCache cache(60s, 3);
  cache.put("/a", "a", 0s);
  cache.put("/b", "b", 30s);
  cache.put("/c", "c", 30s);
  cache.put("/d", "d", 61s);  // the first has passed
  CHECK(cache.size() == 3);
  CHECK(cache.find("/b", 61s) != nullptr);
  CHECK(cache.find("/d", 61s) != nullptr);
  cache.put("/e", "e", 62s);  // none has
  CHECK(cache.size() == 1);
  CHECK(*cache.find("/e", 62s) == "e");
  for (int i = 0; i < 1000; ++i) {
    cache.put("/" + std::to_string(i), "x", 63s);
    REQUIRE(cache.size() <= 3);
  }
}

}  // namespace response_cache_test
