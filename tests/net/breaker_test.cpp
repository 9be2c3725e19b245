#include "net/breaker.h"

#include <doctest/doctest.h>

namespace breaker_test {

using namespace std::chrono_literals;
using stoka::net::Breaker;

namespace {

// Three failures open the breaker, for 5 s, 10 s and then at most 12 s.
constexpr stoka::net::BreakerOptions kOptions{3, 5000ms, 12000ms};

void open(Breaker& breaker, Breaker::Time now) {
  for (int i = 0; i < kOptions.failures; ++i) {
    REQUIRE_FALSE(breaker.closed_to_callers(now).has_value());
    breaker.failed(now);
  }
}

}  // namespace

TEST_CASE("failures in a row open the breaker for a while") {
  Breaker breaker(kOptions);
  CHECK_FALSE(breaker.closed_to_callers(0s).has_value());
  breaker.failed(1s);
  breaker.failed(1s);
  CHECK_FALSE(breaker.closed_to_callers(1s).has_value());
  breaker.failed(1s);
  CHECK(breaker.closed_to_callers(1s) == 5000ms);
  CHECK(breaker.resting(2s) == 4000ms);
  CHECK(breaker.closed_to_callers(6s - 1ns) == 1ms);  // never rounded down to zero
  CHECK_FALSE(breaker.resting(6s).has_value());
}

TEST_CASE("a success resets the count of failures") {
  Breaker breaker(kOptions);
  for (int i = 0; i < 10; ++i) {
    breaker.failed(1s);
    breaker.failed(1s);
    breaker.succeeded();
  }
  CHECK_FALSE(breaker.closed_to_callers(1s).has_value());
}

TEST_CASE("responses that begin and then fail count as failures in a row") {
  Breaker breaker(kOptions);
  for (int i = 0; i < kOptions.failures; ++i) {
    REQUIRE_FALSE(breaker.closed_to_callers(1s).has_value());
    breaker.answered();
    breaker.failed(1s);
  }
  CHECK(breaker.closed_to_callers(1s).has_value());
}

TEST_CASE("a cancelled call does not count") {
  Breaker breaker(kOptions);
  breaker.failed(1s);
  breaker.failed(1s);
  breaker.abandoned();
  CHECK_FALSE(breaker.closed_to_callers(1s).has_value());
  breaker.failed(1s);
  CHECK(breaker.closed_to_callers(1s).has_value());
}

TEST_CASE("after the open duration one trial call passes") {
  Breaker breaker(kOptions);
  open(breaker, 1s);
  CHECK_FALSE(breaker.resting(6s).has_value());
  CHECK_FALSE(breaker.closed_to_callers(6s).has_value());
  CHECK(breaker.closed_to_callers(6s).has_value());
  CHECK(breaker.resting(6s).has_value());

  SUBCASE("its success closes the breaker") {
    breaker.succeeded();
    CHECK_FALSE(breaker.closed_to_callers(6s).has_value());
    CHECK_FALSE(breaker.closed_to_callers(6s).has_value());
    breaker.failed(7s);
    breaker.failed(7s);
    CHECK_FALSE(breaker.closed_to_callers(7s).has_value());
  }
  SUBCASE("the beginning of its response lets other calls pass, and its failure opens the breaker again") {
    breaker.answered();
    CHECK_FALSE(breaker.closed_to_callers(6s).has_value());
    breaker.failed(7s);
    CHECK(breaker.closed_to_callers(7s) == 5000ms);
  }
  SUBCASE("its failure opens the breaker for longer, up to a limit") {
    breaker.failed(7s);
    CHECK(breaker.closed_to_callers(7s) == 10000ms);
    CHECK_FALSE(breaker.closed_to_callers(17s).has_value());
    breaker.failed(17s);
    CHECK(breaker.closed_to_callers(17s) == 12000ms);
    CHECK_FALSE(breaker.closed_to_callers(29s).has_value());
    breaker.failed(29s);
    CHECK(breaker.closed_to_callers(29s) == 12000ms);
  }
  SUBCASE("if it is cancelled, the next call is a trial at once") {
    breaker.abandoned();
    CHECK_FALSE(breaker.closed_to_callers(6s).has_value());
    CHECK(breaker.closed_to_callers(6s).has_value());
  }
  SUBCASE("if it reports nothing for the open duration, another trial passes") {
    CHECK(breaker.closed_to_callers(10s) == 1000ms);
    CHECK_FALSE(breaker.closed_to_callers(11s).has_value());
  }
}

TEST_CASE("failures of calls that began before the breaker opened do not extend it") {
  Breaker breaker(kOptions);
  open(breaker, 1s);
  breaker.failed(4s);
  breaker.failed(5s);
  CHECK(breaker.closed_to_callers(5s) == 1000ms);
  breaker.succeeded();
  CHECK_FALSE(breaker.closed_to_callers(5s).has_value());
}

}  // namespace breaker_test
