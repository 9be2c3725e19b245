#include "base/spoken.h"

#include <doctest/doctest.h>

namespace spoken_test {

using namespace std::chrono_literals;

TEST_CASE("durations are said as people say them") {
  using stoka::spoken;
  CHECK(spoken(0ms) == "0 ms");
  CHECK(spoken(999ms) == "999 ms");
  CHECK(spoken(1000ms) == "1 s");
  CHECK(spoken(1500ms) == "1.5 s");
  CHECK(spoken(59949ms) == "59.9 s");
  CHECK(spoken(299999ms) == "300 s");
}

}  // namespace spoken_test
