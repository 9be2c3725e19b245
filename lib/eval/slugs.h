// Merged into eval/case.h: include that.
#pragma once
#include "eval/case.h"
