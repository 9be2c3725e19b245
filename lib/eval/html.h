#pragma once

#include <span>
#include <string>

#include "eval/compare.h"
#include "eval/report.h"

namespace stoka::eval {

// The report as one HTML file for people, without scripts and without anything from elsewhere: the
// figures, the stages, scores over time, then every case, the worst first, with the answer and the
// citations as a visitor saw them. `earlier`: older reports, oldest first. `comparison` may be
// null.
std::string to_html(const Report& report, std::span<const Report> earlier,
                    const Comparison* comparison);

}  // namespace stoka::eval
