#pragma once
#include "base/ascii.h"
