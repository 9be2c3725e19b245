// All settings of stoka, with their keys in config.toml, environment variables and defaults.
#pragma once

#include <span>

#include "base/config.h"

namespace stoka::app {

// An embedder, reranker or generator that can be a server, and the defaults of its settings.
struct Role {
  std::string name;  // the name of its section in config.toml, e.g. "embedder"
  std::string env;   // the prefix of its environment variables, e.g. "STOKA_EMBED"
  std::string concurrency;
  std::string timeout;
};
std::span<const Role> roles();

// The table of all settings. Unless the table names another variable, the environment variable of a
// setting is STOKA_ and the key in upper case with underscores instead of dots.
std::span<const Setting> settings();

}  // namespace stoka::app
