#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command.h"

namespace stoka::app {

// The flags of one command, or of the program without a command.
struct CommandFlags {
  const Command* command = nullptr;  // the chosen command; null for the program itself
  FlagList flags;
  Run run;
};

struct FlagTable {
  CommandFlags program;
  std::vector<CommandFlags> commands;  // the flags of each command, in the order of commands()
};

// Returns all commands and flags. Parsing writes the values of the common flags to `common`, which
// must outlive the table, and the value of --url without a command to `url`, which may be null.
FlagTable flag_table(CommonFlags& common, std::optional<std::string>* url = nullptr);

// Returns the --help text of a command, which must exist, or of the program if the name is empty.
std::string help_text(std::string_view command);

// Parses the command line and runs the command; returns the exit code. An unknown command or flag
// is a usage error that suggests the nearest known name.
int run_cli(int argc, char** argv);

}  // namespace stoka::app
