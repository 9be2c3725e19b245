// Prints the help of a command, and manual pages generated from the same table of flags.
#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "cli.h"

namespace stoka::app {
namespace {

struct HelpFlags {
  std::string command;
  bool man = false;
};

// Escapes a text for roff: backslashes and dashes anywhere, dots and quotes at the start of a line.
std::string roff(std::string_view text) {
  std::string out;
  bool line_start = true;
  for (char c : text) {
    if (line_start && (c == '.' || c == '\'')) out += "\\&";
    line_start = c == '\n';
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out;
}

std::string bold(std::string_view text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + roff(text) + "\\fR"; }

std::string flag_entry(const Flag& flag) {
  std::string head;
  if (flag.is_argument()) {
    head = italic(flag.names);
  } else {
    if (!flag.short_name().empty()) head = bold(flag.short_name()) + ", ";
    head += bold(flag.long_name());
    if (!flag.is_switch()) head += " " + italic(flag.value);
  }
  return fmt::format(".TP\n{}\n{}\n", head, roff(flag.help));
}

std::string examples(std::string_view lines) {
  return fmt::format(".SH EXAMPLES\n.nf\n{}\n.fi\n", roff(lines));
}

std::string synopsis(const CommandFlags& of) {
  std::string out = ".SH SYNOPSIS\n" + bold("stoka");
  if (of.command) out += " " + bold(of.command->name);
  out += " [" + italic("flags") + "]";
  if (!of.command) out += " [" + italic("command") + "]";
  for (const Flag& flag : of.flags)
    if (flag.is_argument()) {
      std::string name = italic(flag.names) + (flag.is_list() ? "..." : "");
      out += flag.required ? " " + name : " [" + name + "]";
    }
  return out + "\n";
}

std::string manual_page(const FlagTable& table, const CommandFlags& of) {
  const std::string name =
      of.command ? fmt::format("stoka-{}", of.command->name) : std::string("stoka");
  std::string upper = name;
  std::transform(upper.begin(), upper.end(), upper.begin(), [](char c) { return to_upper(c); });
  std::string out = fmt::format(
      ".TH {} 1 \"\" \"stoka {}\"\n.SH NAME\n{} \\- {}\n", roff(upper), STOKA_VERSION, roff(name),
      roff(of.command ? of.command->summary : "a website that answers questions about itself"));
  out += synopsis(of);
  if (!of.command) {
    out += ".SH COMMANDS\n";
    for (const CommandFlags& one : table.commands)
      out +=
          fmt::format(".TP\n{}\n{}; see {}(1)\n", bold(one.command->name),
                      roff(one.command->summary), bold(fmt::format("stoka-{}", one.command->name)));
  }
  out += ".SH OPTIONS\n";
  for (const Flag& flag : of.flags) out += flag_entry(flag);
  if (of.command) out += examples(of.command->examples);
  out += ".SH FILES\n.TP\n" + italic("$XDG_CONFIG_HOME/stoka/config.toml") +
         "\nThe settings. Flags and STOKA_ variables override it; 'stoka status \\-v' lists all "
         "settings.\n.TP\n" +
         italic("$XDG_DATA_HOME/stoka/stoka.db") +
         "\nThe index and the sessions, unless \\-\\-store names another store.\n";
  out +=
      ".SH EXIT STATUS\n"
      ".TP\n0\nSuccess, also if nothing was found.\n"
      ".TP\n1\nA check of smoke or eval failed.\n"
      ".TP\n2\nThe command line is wrong.\n"
      ".TP\n3\nThe configuration or the data is wrong.\n"
      ".TP\n4\nA model server or the database is not available.\n"
      ".TP\n130\nInterrupted.\n";
  out += of.command ? ".SH SEE ALSO\n" + bold("stoka") + "(1)\n" : "";
  return out;
}

int run_help(App& app, const HelpFlags& flags) {
  CommonFlags unused;
  const FlagTable table = flag_table(unused);
  const CommandFlags* of = &table.program;
  if (!flags.command.empty()) {
    const auto found =
        std::find_if(table.commands.begin(), table.commands.end(),
                     [&](const CommandFlags& one) { return one.command->name == flags.command; });
    if (found == table.commands.end()) return app.report(unknown_command(flags.command));
    of = &*found;
  }
  print(flags.man ? manual_page(table, *of) : help_text(flags.command));
  return 0;
}

}  // namespace

Run declare_help(FlagList& flags) {
  auto values = std::make_shared<HelpFlags>();
  add(flags, {{.names = "COMMAND",
               .target = &values->command,
               .help = "the command; without it, the help is about the program",
               .choices = command_names(),
               .check = [](const std::string&) { return std::string(); }},
              {.names = "--man",
               .target = &values->man,
               .help = "print the manual page, for example for 'man -l -'"}});
  return [values](App& app) { return run_help(app, *values); };
}

}  // namespace stoka::app
