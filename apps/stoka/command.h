// A subcommand: its words, its flags, what it does. One cmd_NAME.cpp each; the table is
// commands.cpp.
#pragma once

#include <functional>
#include <span>

#include "app.h"
#include "flags.h"

namespace stoka::app {

// Runs the command after its flags were read; returns the exit code.
using Run = std::function<int(App&)>;

struct Command {
  const char* name;
  const char* summary;   // one line
  const char* examples;  // lines, shown at the end of --help
  // Appends the command's flags. What it returns holds their values and runs.
  Run (*declare)(FlagList& flags);
  bool reads_settings = true;  // false: it works whatever stands in config.toml
};

std::span<const Command> commands();

Run declare_chat(FlagList& flags);
Run declare_completion(FlagList& flags);
Run declare_context(FlagList& flags);
Run declare_discover(FlagList& flags);
Run declare_eval(FlagList& flags);
Run declare_help(FlagList& flags);
Run declare_index(FlagList& flags);
Run declare_profile(FlagList& flags);
Run declare_rerank(FlagList& flags);
Run declare_route(FlagList& flags);
Run declare_status(FlagList& flags);
Run declare_serve(FlagList& flags);
Run declare_smoke(FlagList& flags);
Run declare_store(FlagList& flags);

// The REPL: what stoka is without a command on a terminal.
int run_repl(App& app);
// The same with the site at that address.
int run_repl(App& app, const std::string& url);

}  // namespace stoka::app
