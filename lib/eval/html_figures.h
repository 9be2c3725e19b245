// The figures of a report as HTML: tables and charts. Each function returns an empty string if the
// report has no such figures.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "eval/report.h"

namespace stoka::eval {

std::string suites_table(const Report& report);  // pass rates with their intervals
std::string parts_list(const Report& report);    // the parts that were evaluated
// A table of the stages that a query passes through, in their order, with the latency of each.
std::string stages_table(const Report& report);
std::string calibration_table(const Report& report);
std::string scores_table(const Report& report);
std::string categories_table(const Report& report);

// A chart of the pass rates and of the last retrieval stage's scores in `earlier` and this report.
std::string charts(const Report& report, std::span<const Report> earlier);

// A line chart of values in [0,1], oldest first, as an HTML figure with inline SVG. The figure
// shows the name, the first and the last value, and has a description for screen readers. Where a
// value is missing, the line connects its neighbours. `when` has a label for each value.
std::string line_chart(std::string_view name, std::span<const std::optional<double>> values,
                       std::span<const std::string> when);

}  // namespace stoka::eval
