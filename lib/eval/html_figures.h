// The figures of a report as HTML: tables and charts. Each is empty if the report has nothing of
// it.
#pragma once

#include <span>
#include <string>

#include "eval/report.h"

namespace stoka::eval {

std::string suites_table(const Report& report);  // with the interval of each pass rate
std::string parts_list(const Report& report);    // what was evaluated
// The stages in the order in which a query goes through them, with their latency.
std::string stages_table(const Report& report);
std::string calibration_table(const Report& report);
// Pass rates and what the last stage of retrieval achieves, over `earlier` and this report.
std::string charts(const Report& report, std::span<const Report> earlier);
std::string scores_table(const Report& report);
std::string categories_table(const Report& report);

}  // namespace stoka::eval
