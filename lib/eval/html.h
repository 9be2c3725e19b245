#pragma once

#include <span>
#include <string>

#include "eval/compare.h"
#include "eval/report.h"

namespace stoka::eval {

// The report as one self-contained HTML file without scripts or external resources: the figures,
// the stages, scores over time, then every case with the answer and the citations as a visitor saw
// them, the worst case first. `earlier` holds older reports, oldest first. `comparison` may be
// null.
std::string to_html(const Report& report, std::span<const Report> earlier,
                    const Comparison* comparison);

}  // namespace stoka::eval
