#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "command.h"
#include "remote_site.h"

namespace stoka::app {

// The option tree: the program, its common flags and every command.
struct Cli {
  std::unique_ptr<CLI::App> root;
  std::map<std::string, Run> runs;
  std::shared_ptr<UrlFlag> url;  // of the REPL
};

Cli make_cli(Common& common);

// Parses the command line and runs what it asks for; returns the exit code. Unknown words and flags
// are usage errors that name the nearest known one.
int run_cli(int argc, char** argv);

}  // namespace stoka::app
