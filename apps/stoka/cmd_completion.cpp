// Shell completions, made from the option tree itself.
#include <fmt/format.h>

#include "cli.h"
#include "command.h"

namespace stoka::app {
namespace {

struct Option {
  std::string name;  // "--json"
  std::string help;
  bool takes_value = false;
};

std::vector<Option> options(const CLI::App& app) {
  std::vector<Option> out;
  for (const CLI::Option* option : app.get_options()) {
    bool takes_value = option->get_items_expected_max() > 0;
    for (const std::string& name : option->get_lnames())
      out.push_back({"--" + name, option->get_description(), takes_value});
  }
  return out;
}

std::string joined_names(const std::vector<Option>& all) {
  std::string out;
  for (const Option& option : all) out += (out.empty() ? "" : " ") + option.name;
  return out;
}

std::string command_names() {
  std::string out;
  for (const Command& command : commands())
    out += (out.empty() ? "" : " ") + std::string(command.name);
  return out;
}

std::string bash(const CLI::App& root) {
  std::string cases;
  for (const Command& command : commands())
    cases += fmt::format("    {}) words=\"{}\" ;;\n", command.name,
                         joined_names(options(*root.get_subcommand(command.name))));
  return fmt::format(
      "# bash completion of stoka\n"
      "_stoka() {{\n"
      "  local cur=\"${{COMP_WORDS[COMP_CWORD]}}\" command=\"\" words i\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    case \" {0} \" in *\" ${{COMP_WORDS[i]}} \"*) command=\"${{COMP_WORDS[i]}}\"; break ;; "
      "esac\n"
      "  done\n"
      "  case \"$command\" in\n"
      "{1}"
      "    *) words=\"{0} {2}\" ;;\n"
      "  esac\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
      "  [[ ${{#COMPREPLY[@]}} -eq 0 && \"$cur\" != -* ]] && COMPREPLY=($(compgen -f -- "
      "\"$cur\"))\n"
      "  return 0\n"
      "}}\n"
      "complete -F _stoka stoka\n",
      command_names(), cases, joined_names(options(root)));
}

// Inside single quotes of a shell: ' ends them, [ ] : mean something to zsh's _arguments.
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

std::string zsh_arguments(const CLI::App& app, std::string_view indent) {
  std::string out;
  for (const Option& option : options(app))
    out += fmt::format(" \\\n{}'{}[{}]{}'", indent, option.name, quoted(option.help, true),
                       option.takes_value ? ":value:_files" : "");
  return out;
}

std::string zsh(const CLI::App& root) {
  std::string names, cases;
  for (const Command& command : commands()) {
    names += fmt::format("    '{}:{}'\n", command.name, quoted(command.summary, true));
    cases += fmt::format("    {}) _arguments{} \\\n      '*:file:_files' ;;\n", command.name,
                         zsh_arguments(*root.get_subcommand(command.name), "      "));
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
      names, zsh_arguments(root, "    "), cases);
}

std::string fish(const CLI::App& root) {
  std::string out = "# fish completion of stoka\n";
  auto add = [&](const std::string& condition, const Option& option) {
    out +=
        fmt::format("complete -c stoka -n '{}' -l {} -d '{}'{}\n", condition, option.name.substr(2),
                    quoted(option.help, false), option.takes_value ? " -r" : "");
  };
  for (const Option& option : options(root)) add("__fish_use_subcommand", option);
  for (const Command& command : commands()) {
    out += fmt::format("complete -c stoka -n __fish_use_subcommand -f -a {} -d '{}'\n",
                       command.name, quoted(command.summary, false));
    for (const Option& option : options(*root.get_subcommand(command.name)))
      add(fmt::format("__fish_seen_subcommand_from {}", command.name), option);
  }
  return out;
}

int run(const std::string& shell) {
  Common unused;
  Cli cli = make_cli(unused);
  print(shell == "bash" ? bash(*cli.root) : shell == "zsh" ? zsh(*cli.root) : fish(*cli.root));
  return 0;
}

}  // namespace

Run declare_completion(CLI::App& cli) {
  auto shell = std::make_shared<std::string>();
  cli.add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}).description(""))
      ->type_name("");
  return [shell](App&) { return run(*shell); };
}

}  // namespace stoka::app
