// A subcommand: its name, its help, its flags and its function. Each command is in a file
// cmd_NAME.cpp, from which the build takes the list of manual pages; the table is in commands.cpp.
#pragma once

#include <functional>
#include <span>

#include "app.h"
#include "flags.h"

namespace stoka::app {

// Runs the command after its flags were parsed; returns the exit code.
using Run = std::function<int(App&)>;

struct Command {
  const char* name;
  const char* summary;   // a description in one line
  const char* examples;  // example command lines, shown at the end of --help
  // Appends the flags of the command. The returned function owns their values.
  Run (*declare)(FlagList& flags);
  bool reads_settings = true;  // false if the command must work with an invalid configuration
};

std::span<const Command> commands();
std::vector<std::string> command_names();
// Returns the usage error for a command that does not exist. The error suggests the nearest name.
Error unknown_command(std::string_view name);

Run declare_chat(FlagList& flags);
Run declare_completion(FlagList& flags);
Run declare_context(FlagList& flags);
Run declare_discover(FlagList& flags);
Run declare_eval(FlagList& flags);
Run declare_golden(FlagList& flags);
Run declare_help(FlagList& flags);
Run declare_index(FlagList& flags);
Run declare_profile(FlagList& flags);
Run declare_rerank(FlagList& flags);
Run declare_route(FlagList& flags);
Run declare_status(FlagList& flags);
Run declare_serve(FlagList& flags);
Run declare_smoke(FlagList& flags);
Run declare_store(FlagList& flags);

// Runs the REPL over the local index, or over the stoka server at the URL. On a terminal, stoka
// without a command runs the REPL.
int run_repl(App& app, const std::optional<std::string>& url);

}  // namespace stoka::app
