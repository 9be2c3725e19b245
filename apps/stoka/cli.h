#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command.h"

namespace stoka::app {

// The program itself or one of its commands, with every flag it takes.
struct CommandFlags {
  const Command* command = nullptr;  // null: the program
  FlagList flags;
  Run run;
};

struct FlagTable {
  CommandFlags program;
  std::vector<CommandFlags> commands;  // in the order of commands()
};

// Everything that can be given on the command line. The values go to `common`, which must outlive
// the table. `url` is where --url of the program goes, and may be null.
FlagTable flag_table(Common& common, std::optional<std::string>* url = nullptr);

// What --help prints for a command, or for the program if the name is empty. The command must
// exist.
std::string help_text(std::string_view command);

// Parses the command line and runs what it asks for; returns the exit code. Unknown words and flags
// are usage errors that name the nearest known one.
int run_cli(int argc, char** argv);

}  // namespace stoka::app
