// Every setting stoka has: its key in config.toml, its environment variable, its default.
#pragma once

#include <span>

#include "base/config.h"

namespace stoka::app {

// A part that may be a server.
struct Role {
  std::string name;  // "embedder": its section of config.toml
  std::string env;   // "STOKA_EMBED": what its variables begin with
  std::string concurrency;
  std::string timeout;
};
std::span<const Role> roles();

// The environment variable of a key is STOKA_ and the key in upper case, dots as underscores,
// unless it is named otherwise here.
std::span<const Setting> settings();

}  // namespace stoka::app
