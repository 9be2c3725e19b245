#pragma once

#include <string>

#include "eval/report.h"

namespace stoka::eval {

// JUnit XML as CI servers read it: a testsuite a suite, a testcase a case; what failed is its
// failure, what could not be run its error. Valid XML whatever the texts hold.
std::string junit_xml(const Report& report);

}  // namespace stoka::eval
