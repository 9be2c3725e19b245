// The completion scripts for shells, generated from the table of flags.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli.h"

namespace stoka::app {
namespace {

// Escapes a text for use in single quotes of a shell. For zsh, [ ] and : are escaped as well.
std::string quoted(std::string_view text, bool zsh) {
  std::string out;
  for (char c : text) {
    if (c == '\'')
      out += "'\\''";
    else if (zsh && (c == '[' || c == ']' || c == ':'))
      out += std::string("\\") + c;
    else
      out += c;
  }
  return out;
}

// ---- bash

// Returns a bash command that sets the completions of a flag's value.
std::string bash_values(const Flag& flag) {
  if (!flag.choices.empty())
    return fmt::format("COMPREPLY=($(compgen -W \"{}\" -- \"$cur\"))",
                       fmt::join(flag.choices, " "));
  if (flag.completion == Completion::files)
    return "compopt -o filenames; COMPREPLY=($(compgen -f -- \"$cur\"))";
  if (flag.completion == Completion::folders)
    return "compopt -o filenames; COMPREPLY=($(compgen -d -- \"$cur\"))";
  return ":";  // in bash, a command without effect: the value has no completions
}

// Returns a bash script that completes the flags of one command, their values and its arguments.
std::string bash_command(const CommandFlags& of) {
  std::string words, after, arguments;
  for (const Flag& flag : of.flags) {
    if (flag.is_argument()) {
      if (!flag.choices.empty() || flag.completion != Completion::none)
        arguments += (arguments.empty() ? "" : "; ") + bash_values(flag);
      continue;
    }
    words += (words.empty() ? "" : " ") + flag.long_name();
    if (!flag.is_switch())
      after += fmt::format("        {}) {}; return 0 ;;\n", flag.long_name(), bash_values(flag));
  }
  return fmt::format(
      "      words=\"{}\"\n      case \"$prev\" in\n{}      esac\n{}", words, after,
      arguments.empty()
          ? ""
          : fmt::format("      [[ \"$cur\" != -* ]] && {{ {}; return 0; }}\n", arguments));
}

std::string bash(const FlagTable& table) {
  std::string cases;
  for (const CommandFlags& one : table.commands)
    cases += fmt::format("    {})\n{}      ;;\n", one.command->name, bash_command(one));
  return fmt::format(
      "# bash completion of stoka\n"
      "_stoka() {{\n"
      "  local cur=\"${{COMP_WORDS[COMP_CWORD]}}\" prev=\"${{COMP_WORDS[COMP_CWORD-1]}}\"\n"
      "  local command=\"\" words i\n"
      "  # --flag=value is three words to bash\n"
      "  if [[ \"$cur\" == = ]]; then cur=\"\"\n"
      "  elif [[ \"$prev\" == = ]]; then prev=\"${{COMP_WORDS[COMP_CWORD-2]}}\"; fi\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    case \" {0} \" in *\" ${{COMP_WORDS[i]}} \"*) command=\"${{COMP_WORDS[i]}}\"; break ;; "
      "esac\n"
      "  done\n"
      "  COMPREPLY=()\n"
      "  case \"$command\" in\n"
      "{1}"
      "    *)\n{2}"
      "      [[ \"$cur\" != -* ]] && words=\"{0}\"\n"
      "      ;;\n"
      "  esac\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
      "  return 0\n"
      "}}\n"
      "complete -F _stoka stoka\n",
      fmt::join(command_names(), " "), cases, bash_command(table.program));
}

// ---- zsh

std::string zsh_values(const Flag& flag) {
  std::string what = flag.value.empty() ? flag.names : flag.value;
  if (!flag.choices.empty()) return fmt::format(":{}:({})", what, fmt::join(flag.choices, " "));
  if (flag.completion == Completion::files) return fmt::format(":{}:_files", what);
  if (flag.completion == Completion::folders) return fmt::format(":{}:_files -/", what);
  return fmt::format(":{}: ", what);
}

std::string zsh_arguments(const FlagList& flags, std::string_view indent) {
  std::string out;
  int position = 0;
  const auto line = [&](const std::string& text) { out += fmt::format(" \\\n{}{}", indent, text); };
  for (const Flag& flag : flags) {
    const std::string help = quoted(flag.help, true);
    const std::string value = flag.is_switch() ? "" : zsh_values(flag);
    // A flag that is a list may be repeated, which zsh marks with an asterisk.
    const std::string repeatable = flag.is_list() ? "*" : "";
    if (flag.is_argument())
      line(fmt::format("'{}{}'", flag.is_list() ? "*" : std::to_string(++position), value));
    else if (!flag.short_name().empty())
      line(fmt::format("'({0} {1})'{{{0},{1}}}'[{2}]{3}'", flag.short_name(), flag.long_name(),
                       help, value));
    else
      line(fmt::format("'{}{}[{}]{}'", repeatable, flag.long_name() + (value.empty() ? "" : "="),
                       help, value));
  }
  return out;
}

std::string zsh(const FlagTable& table) {
  std::string names, cases;
  for (const CommandFlags& one : table.commands) {
    names += fmt::format("    '{}:{}'\n", one.command->name, quoted(one.command->summary, true));
    cases += fmt::format("    {}) _arguments{} ;;\n", one.command->name,
                         zsh_arguments(one.flags, "      "));
  }
  return fmt::format(
      "#compdef stoka\n"
      "_stoka() {{\n"
      "  local -a stoka_commands=(\n{}  )\n"
      "  local state\n"
      "  _arguments -C{} \\\n    '1:command:->command' '*::argument:->argument'\n"
      "  case $state in\n"
      "  command) _describe command stoka_commands ;;\n"
      "  argument)\n"
      "    case $words[1] in\n{}    esac ;;\n"
      "  esac\n"
      "}}\n"
      "compdef _stoka stoka\n",
      names, zsh_arguments(table.program.flags, "    "), cases);
}

// ---- fish

std::string fish_values(const Flag& flag) {
  if (flag.is_switch()) return "";
  if (!flag.choices.empty()) return fmt::format(" -x -a '{}'", fmt::join(flag.choices, " "));
  if (flag.completion == Completion::files) return " -r -F";
  if (flag.completion == Completion::folders) return " -x -a '(__fish_complete_directories)'";
  return " -x";
}

std::string fish(const FlagTable& table) {
  std::string out = "# fish completion of stoka\ncomplete -c stoka -f\n";
  const auto add = [&](const std::string& condition, const Flag& flag) {
    if (flag.is_argument()) {
      if (flag.completion == Completion::files)
        out += fmt::format("complete -c stoka -n '{}' -F\n", condition);
      if (!flag.choices.empty())
        out += fmt::format("complete -c stoka -n '{}' -a '{}'\n", condition,
                           fmt::join(flag.choices, " "));
      return;
    }
    out += fmt::format("complete -c stoka -n '{}'{} -l {} -d '{}'{}\n", condition,
                       flag.short_name().empty() ? "" : " -s " + flag.short_name().substr(1),
                       flag.long_name().substr(2), quoted(flag.help, false), fish_values(flag));
  };
  for (const Flag& flag : table.program.flags) add("__fish_use_subcommand", flag);
  for (const CommandFlags& one : table.commands) {
    out += fmt::format("complete -c stoka -n __fish_use_subcommand -a {} -d '{}'\n",
                       one.command->name, quoted(one.command->summary, false));
    for (const Flag& flag : one.flags)
      add(fmt::format("__fish_seen_subcommand_from {}", one.command->name), flag);
  }
  return out;
}

int run_completion(const std::string& shell) {
  CommonFlags unused;
  const FlagTable table = flag_table(unused);
  print(shell == "bash" ? bash(table) : shell == "zsh" ? zsh(table) : fish(table));
  return 0;
}

}  // namespace

Run declare_completion(FlagList& flags) {
  auto shell = std::make_shared<std::string>();
  add(flags, {{.names = "SHELL",
               .target = shell.get(),
               .help = "the shell: bash, zsh or fish",
               .required = true,
               .choices = {"bash", "zsh", "fish"}}});
  return [shell](App&) { return run_completion(*shell); };
}

}  // namespace stoka::app
