#include "eval/latency.h"

#include <doctest/doctest.h>

namespace latency_test {

using namespace stoka::eval;

TEST_CASE("percentiles are values that were seen") {
  CHECK(percentiles({}).p95 == 0);
  CHECK(percentiles({7}).p50 == 7);
  CHECK(percentiles({7}).p95 == 7);
  std::vector<double> hundred;
  for (int i = 100; i > 0; --i) hundred.push_back(i);
  CHECK(percentiles(hundred).p50 == 50);
  CHECK(percentiles(hundred).p95 == 95);
}

}  // namespace latency_test
