// How sure a share of so many is.
#pragma once

namespace stoka::eval {

struct Interval {
  double low = 0;
  double high = 1;
};

// The Wilson score interval at 95 % of a share (0..1) that was seen in n trials (Wilson 1927). For
// the pass rate of a suite whose cases were repeated, n is the number of cases: repeats of one case
// are not independent. n 0: all of [0,1].
Interval wilson(double share, double n);

}  // namespace stoka::eval
