// The settings of `stoka serve`, as the server takes them.
#pragma once

#include "app.h"
#include "serve/server.h"

namespace stoka::app {

// Config errors name the setting. Key files are read.
Result<serve::ServerOptions> serve_options(const Config& config);

// What is counted of the servers among the parts.
class Providers;
void watch(Providers& providers, serve::Metrics& metrics);

}  // namespace stoka::app
