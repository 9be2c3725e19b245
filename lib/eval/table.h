// Merged into eval/report.h: include that.
#pragma once
#include "eval/report.h"
