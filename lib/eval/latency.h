#pragma once

#include <vector>

namespace stoka::eval {

struct Milliseconds {
  double p50 = 0;
  double p95 = 0;
};

// By nearest rank; of none 0.
Milliseconds percentiles(std::vector<double> ms);

}  // namespace stoka::eval
