// A report as a person reads it in a terminal: plain lines, no colour.
#pragma once

#include <span>
#include <string>

#include "eval/calibration.h"
#include "eval/report.h"

namespace stoka::eval {

// Pass rates by suite and category, the stage table, the calibration, and what failed with the
// reason; `all`: every case with its scores. Untrusted text is not cleaned.
std::string to_table(const Report& report, bool all);

}  // namespace stoka::eval
