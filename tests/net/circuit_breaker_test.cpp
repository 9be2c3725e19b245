#include "net/circuit_breaker.h"

#include <doctest/doctest.h>

namespace circuit_breaker_test {

using namespace std::chrono_literals;
using stoka::net::CircuitBreaker;

namespace {

// Three failures open the breaker, for 5 s, 10 s and then at most 12 s.
constexpr stoka::net::CircuitBreakerOptions kOptions{3, 5000ms, 12000ms};

void open_breaker(CircuitBreaker& breaker, CircuitBreaker::Time now) {
  for (int i = 0; i < kOptions.failure_threshold; ++i) {
    REQUIRE_FALSE(breaker.begin_call(now).has_value());
    breaker.failed(now);
  }
}

}  // namespace

TEST_CASE("consecutive failures open the breaker for a while") {
  CircuitBreaker breaker(kOptions);
  CHECK_FALSE(breaker.begin_call(0s).has_value());
  breaker.failed(1s);
  breaker.failed(1s);
  CHECK_FALSE(breaker.begin_call(1s).has_value());
  breaker.failed(1s);
  CHECK(breaker.begin_call(1s) == 5000ms);
  CHECK(breaker.open_for(2s) == 4000ms);
  CHECK(breaker.begin_call(6s - 1ns) == 1ms);  // never rounded down to zero
  CHECK_FALSE(breaker.open_for(6s).has_value());
}

TEST_CASE("a success resets the count of failures") {
  CircuitBreaker breaker(kOptions);
  for (int i = 0; i < 10; ++i) {
    breaker.failed(1s);
    breaker.failed(1s);
    breaker.succeeded();
  }
  CHECK_FALSE(breaker.begin_call(1s).has_value());
}

TEST_CASE("responses that begin and then fail count as consecutive failures") {
  CircuitBreaker breaker(kOptions);
  for (int i = 0; i < kOptions.failure_threshold; ++i) {
    REQUIRE_FALSE(breaker.begin_call(1s).has_value());
    breaker.response_began();
    breaker.failed(1s);
  }
  CHECK(breaker.begin_call(1s).has_value());
}

TEST_CASE("a cancelled call does not count") {
  CircuitBreaker breaker(kOptions);
  breaker.failed(1s);
  breaker.failed(1s);
  breaker.abandoned();
  CHECK_FALSE(breaker.begin_call(1s).has_value());
  breaker.failed(1s);
  CHECK(breaker.begin_call(1s).has_value());
}

TEST_CASE("after the open duration one trial call passes") {
  CircuitBreaker breaker(kOptions);
  open_breaker(breaker, 1s);
  CHECK_FALSE(breaker.open_for(6s).has_value());
  CHECK_FALSE(breaker.begin_call(6s).has_value());
  CHECK(breaker.begin_call(6s).has_value());
  CHECK(breaker.open_for(6s).has_value());

  SUBCASE("its success closes the breaker") {
    breaker.succeeded();
    CHECK_FALSE(breaker.begin_call(6s).has_value());
    CHECK_FALSE(breaker.begin_call(6s).has_value());
    breaker.failed(7s);
    breaker.failed(7s);
    CHECK_FALSE(breaker.begin_call(7s).has_value());
  }
  SUBCASE(
      "the beginning of its response lets other calls pass, and its failure opens the breaker "
      "again") {
    breaker.response_began();
    CHECK_FALSE(breaker.begin_call(6s).has_value());
    breaker.failed(7s);
    CHECK(breaker.begin_call(7s) == 5000ms);
  }
  SUBCASE("its failure opens the breaker for longer, up to a limit") {
    breaker.failed(7s);
    CHECK(breaker.begin_call(7s) == 10000ms);
    CHECK_FALSE(breaker.begin_call(17s).has_value());
    breaker.failed(17s);
    CHECK(breaker.begin_call(17s) == 12000ms);
    CHECK_FALSE(breaker.begin_call(29s).has_value());
    breaker.failed(29s);
    CHECK(breaker.begin_call(29s) == 12000ms);
  }
  SUBCASE("if it is cancelled, the next call is a trial at once") {
    breaker.abandoned();
    CHECK_FALSE(breaker.begin_call(6s).has_value());
    CHECK(breaker.begin_call(6s).has_value());
  }
  SUBCASE("if it reports nothing for the open duration, another trial passes") {
    CHECK(breaker.begin_call(10s) == 1000ms);
    CHECK_FALSE(breaker.begin_call(11s).has_value());
  }
}

TEST_CASE("failures of calls that began before the breaker opened do not extend it") {
  CircuitBreaker breaker(kOptions);
  open_breaker(breaker, 1s);
  breaker.failed(4s);
  breaker.failed(5s);
  CHECK(breaker.begin_call(5s) == 1000ms);
  breaker.succeeded();
  CHECK_FALSE(breaker.begin_call(5s).has_value());
}

}  // namespace circuit_breaker_test
