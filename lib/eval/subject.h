// Merged into eval/system_under_test.h: include that.
#pragma once
#include "eval/system_under_test.h"
