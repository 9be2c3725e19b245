#include "embed/remembered.h"

#include <doctest/doctest.h>

namespace remembered_test {

using namespace stoka;
using embed::Remembered;

TEST_CASE("what was said is remembered for a minute") {
  FixedClock clock{Instant{}};
  Remembered<int> remembered(clock);
  int asked = 0;
  const auto ask = [&]() -> Result<int> { return ++asked; };
  CHECK(remembered.get(ask).value() == 1);
  clock.advance(std::chrono::seconds(59));
  CHECK(remembered.get(ask).value() == 1);
  clock.advance(std::chrono::seconds(1));
  CHECK(remembered.get(ask).value() == 2);
  remembered.forget();
  CHECK(remembered.get(ask).value() == 3);
}

TEST_CASE("a failure is not remembered, and what is too old is not said again") {
  FixedClock clock{Instant{}};
  Remembered<int> remembered(clock);
  const auto failing = []() -> Result<int> { return fail(ErrorKind::unavailable, "down"); };
  CHECK(remembered.get([]() -> Result<int> { return 1; }).value() == 1);
  clock.advance(std::chrono::minutes(1));
  CHECK_FALSE(remembered.get(failing).has_value());
  CHECK_FALSE(remembered.get(failing).has_value());
  CHECK(remembered.get([]() -> Result<int> { return 2; }).value() == 2);
}

TEST_CASE("a failure leaves what another was told meanwhile") {
  FixedClock clock{Instant{}};
  Remembered<int> remembered(clock);
  const auto other = []() -> Result<int> { return 7; };
  const auto overtaken = [&]() -> Result<int> {
    CHECK(remembered.get(other).value() == 7);
    return fail(ErrorKind::unavailable, "down");
  };
  CHECK_FALSE(remembered.get(overtaken).has_value());
  CHECK(remembered.get([]() -> Result<int> { return 8; }).value() == 7);
}

}  // namespace remembered_test
