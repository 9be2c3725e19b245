#include "base/clock.h"

#include <doctest/doctest.h>

#include <set>

namespace clock_test {

using namespace stoka;

TEST_CASE("random ids are UUIDs of version 4 and differ; seeded ids repeat") {
  RandomUuidSource random;
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    std::string id = random.uuid();
    CHECK(is_uuid(id));
    CHECK(id[14] == '4');
    CHECK(std::string("89ab").find(id[19]) != std::string::npos);
    CHECK(seen.insert(id).second);
  }
  CHECK(SeededUuidSource(7).uuid() == SeededUuidSource(7).uuid());
}

TEST_CASE("is_uuid accepts the canonical form only") {
  CHECK(is_uuid("123e4567-E89B-42d3-a456-426614174000"));
  for (const char* text :
       {"", "123e4567e89b42d3a456426614174000", "123e4567-e89b-42d3-a456-42661417400g",
        "123e4567-e89b-42d3-a456-426614174000 "})
    CHECK(!is_uuid(text));
}

TEST_CASE("a point in time is formatted as RFC 3339") {
  CHECK(rfc3339(Instant(std::chrono::milliseconds(1776000000123))) == "2026-04-12T13:20:00.123Z");
}

TEST_CASE("durations are formatted for people") {
  using namespace std::chrono_literals;
  CHECK(format_duration(0ms) == "0 ms");
  CHECK(format_duration(999ms) == "999 ms");
  CHECK(format_duration(1000ms) == "1 s");
  CHECK(format_duration(1500ms) == "1.5 s");
  CHECK(format_duration(59949ms) == "59.9 s");
  CHECK(format_duration(299999ms) == "300 s");
}

}  // namespace clock_test
