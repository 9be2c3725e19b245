// Confidence intervals of pass rates and percentiles of latencies. Pure.
#pragma once

#include <vector>

namespace stoka::eval {

struct Interval {
  double low = 0;
  double high = 1;
};

// The 95 % Wilson score interval (Wilson 1927) of a share (0..1) observed in n trials. For the pass
// rate of a suite whose cases were repeated, n is the number of cases, because repeated trials of
// one case are not independent. If n is 0, the interval is [0,1].
Interval wilson_interval(double share, double n);

// Percentiles of a latency in milliseconds.
struct LatencyPercentiles {
  double p50 = 0;
  double p95 = 0;
};

// Percentiles by the nearest-rank method; 0 if `ms` is empty.
LatencyPercentiles latency_percentiles(std::vector<double> ms);

}  // namespace stoka::eval
