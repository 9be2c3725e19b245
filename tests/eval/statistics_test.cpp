#include "eval/statistics.h"

#include <doctest/doctest.h>

#include <initializer_list>
#include <limits>

namespace statistics_test {

using namespace stoka::eval;

TEST_CASE("Wilson intervals agree with published ones") {
  struct {
    double seen, n, low, high;
  } cases[] = {
      {8, 10, .4902, .9433},
      // Newcombe 1998, table I, method 3.
      {81, 263, .2553, .3662},
      {15, 148, .0624, .1605},
      {0, 20, 0, .1611},
      {1, 29, .0061, .1718},
      // The roots of the quadratic that defines the interval.
      {10, 10, .7225, 1},
      {0, 1, 0, .7935},
      {1, 1, .2065, 1},
      {62, 65, .8729, .9842},
      {58.5, 60, .8986, .9942},
  };
  for (const auto& c : cases) {
    CAPTURE(c.seen);
    CAPTURE(c.n);
    const auto interval = wilson_interval(c.seen / c.n, c.n);
    CHECK(interval.low == doctest::Approx(c.low).epsilon(.00006));
    CHECK(interval.high == doctest::Approx(c.high).epsilon(.00006));
  }
}

TEST_CASE("an interval contains its share and stays within 0 and 1") {
  for (int n = 1; n <= 200; ++n) {
    for (int k = 0; k <= n; ++k) {
      const double share = static_cast<double>(k) / n;
      const auto interval = wilson_interval(share, n);
      const bool ok = interval.low >= 0 && interval.low <= share && share <= interval.high &&
                      interval.high <= 1 && interval.high - interval.low < 1;
      if (!ok) FAIL(k << " of " << n << ": " << interval.low << " to " << interval.high);
    }
  }
  CHECK(wilson_interval(0, 7).low == 0);
  CHECK(wilson_interval(1, 7).high == 1);
}

TEST_CASE("without trials the interval is [0,1]") {
  for (double n : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    CHECK(wilson_interval(.5, n).low == 0);
    CHECK(wilson_interval(.5, n).high == 1);
  }
}

TEST_CASE("percentiles are observed values") {
  CHECK(latency_percentiles({}).p95 == 0);
  CHECK(latency_percentiles({7}).p50 == 7);
  CHECK(latency_percentiles({7}).p95 == 7);
  std::vector<double> hundred;
  for (int i = 100; i > 0; --i) hundred.push_back(i);
  CHECK(latency_percentiles(hundred).p50 == 50);
  CHECK(latency_percentiles(hundred).p95 == 95);
}

}  // namespace statistics_test
