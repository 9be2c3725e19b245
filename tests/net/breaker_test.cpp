#include "net/breaker.h"

#include <doctest/doctest.h>

namespace breaker_test {

using namespace std::chrono_literals;
using stoka::net::Breaker;

namespace {

// Three failures open it; it rests 5 s, 10 s, … at most 12 s.
constexpr stoka::net::BreakerOptions kOptions{3, 5000ms, 12000ms};

void open(Breaker& breaker, Breaker::Time now) {
  for (int i = 0; i < kOptions.failures; ++i) {
    REQUIRE_FALSE(breaker.closed_to_callers(now).has_value());
    breaker.failed(now);
  }
}

}  // namespace

TEST_CASE("failures in a row open it for a while") {
  Breaker breaker(kOptions);
  CHECK_FALSE(breaker.closed_to_callers(0s).has_value());
  breaker.failed(1s);
  breaker.failed(1s);
  CHECK_FALSE(breaker.closed_to_callers(1s).has_value());
  breaker.failed(1s);
  CHECK(breaker.closed_to_callers(1s) == 5000ms);
  CHECK(breaker.resting(2s) == 4000ms);
  CHECK(breaker.closed_to_callers(6s - 1ns) == 1ms);  // never zero
  CHECK_FALSE(breaker.resting(6s).has_value());
}

TEST_CASE("a success in between starts the count anew") {
  Breaker breaker(kOptions);
  for (int i = 0; i < 10; ++i) {
    breaker.failed(1s);
    breaker.failed(1s);
    breaker.succeeded();
  }
  CHECK_FALSE(breaker.closed_to_callers(1s).has_value());
}

TEST_CASE("answers that begin, and then fail, are failures in a row") {
  Breaker breaker(kOptions);
  for (int i = 0; i < kOptions.failures; ++i) {
    REQUIRE_FALSE(breaker.closed_to_callers(1s).has_value());
    breaker.answered();
    breaker.failed(1s);
  }
  CHECK(breaker.closed_to_callers(1s).has_value());
}

TEST_CASE("a call that was stopped counts for nothing") {
  Breaker breaker(kOptions);
  breaker.failed(1s);
  breaker.failed(1s);
  breaker.abandoned();
  CHECK_FALSE(breaker.closed_to_callers(1s).has_value());
  breaker.failed(1s);
  CHECK(breaker.closed_to_callers(1s).has_value());
}

TEST_CASE("after the rest one caller tries") {
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
  SUBCASE("the beginning of its answer lets the others in, and its failure keeps them out again") {
    breaker.answered();
    CHECK_FALSE(breaker.closed_to_callers(6s).has_value());
    breaker.failed(7s);
    CHECK(breaker.closed_to_callers(7s) == 5000ms);
  }
  SUBCASE("its failure opens it for longer, up to a limit") {
    breaker.failed(7s);
    CHECK(breaker.closed_to_callers(7s) == 10000ms);
    CHECK_FALSE(breaker.closed_to_callers(17s).has_value());
    breaker.failed(17s);
    CHECK(breaker.closed_to_callers(17s) == 12000ms);
    CHECK_FALSE(breaker.closed_to_callers(29s).has_value());
    breaker.failed(29s);
    CHECK(breaker.closed_to_callers(29s) == 12000ms);
  }
  SUBCASE("if it is stopped the next one tries at once") {
    breaker.abandoned();
    CHECK_FALSE(breaker.closed_to_callers(6s).has_value());
    CHECK(breaker.closed_to_callers(6s).has_value());
  }
  SUBCASE("if it says nothing for a rest the next one tries") {
    CHECK(breaker.closed_to_callers(10s) == 1000ms);
    CHECK_FALSE(breaker.closed_to_callers(11s).has_value());
  }
}

TEST_CASE("calls that began before it opened do not keep it open") {
  Breaker breaker(kOptions);
  open(breaker, 1s);
  breaker.failed(4s);
  breaker.failed(5s);
  CHECK(breaker.closed_to_callers(5s) == 1000ms);
  breaker.succeeded();
  CHECK_FALSE(breaker.closed_to_callers(5s).has_value());
}

}  // namespace breaker_test
