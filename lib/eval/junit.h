#pragma once

#include <string>

#include "eval/report.h"

namespace stoka::eval {

// The report as JUnit XML for CI servers: a <testsuite> for each suite and a <testcase> for each
// case, with a <failure> if it failed or an <error> if it could not be run. The XML is valid
// whatever bytes the report contains.
std::string junit_xml(const Report& report);

}  // namespace stoka::eval
