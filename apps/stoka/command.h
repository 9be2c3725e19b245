// A subcommand: its words, its flags, what it does. One cmd_NAME.cpp each; the table is
// commands.cpp.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <span>

#include "app.h"

namespace stoka::app {

// Runs the command after its flags were read; returns the exit code.
using Run = std::function<int(App&)>;

struct Command {
  const char* name;
  const char* summary;   // one line
  const char* examples;  // lines, shown at the end of --help
  // Adds the flags to the subcommand. What it returns holds their values and runs.
  Run (*declare)(CLI::App& cli);
};

std::span<const Command> commands();

Run declare_chat(CLI::App& cli);
Run declare_completion(CLI::App& cli);
Run declare_context(CLI::App& cli);
Run declare_discover(CLI::App& cli);
Run declare_eval(CLI::App& cli);
Run declare_index(CLI::App& cli);
Run declare_profile(CLI::App& cli);
Run declare_rerank(CLI::App& cli);
Run declare_route(CLI::App& cli);
Run declare_status(CLI::App& cli);
Run declare_serve(CLI::App& cli);
Run declare_smoke(CLI::App& cli);
Run declare_store(CLI::App& cli);

// The REPL: what stoka is without a command on a terminal.
int run_repl(App& app);
// The same with the site at that address.
int run_repl(App& app, const std::string& url);

}  // namespace stoka::app
