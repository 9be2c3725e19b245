#pragma once

#include "net/upstream.h"
