#pragma once
#include "text/entities.h"
