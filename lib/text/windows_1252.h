#pragma once
#include "text/utf8.h"
