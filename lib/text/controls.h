#pragma once
#include "text/normalize.h"
