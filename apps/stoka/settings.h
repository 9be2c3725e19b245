// Every setting stoka has: its key in config.toml, its environment variable, its default.
#pragma once

#include <span>

#include "base/config.h"

namespace stoka::app {

// The environment variable of a key is STOKA_ and the key in upper case, dots as underscores,
// unless it is named otherwise here.
std::span<const Setting> settings();

}  // namespace stoka::app
