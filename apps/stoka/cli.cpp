// Parses the command line. This is the only file that uses CLI11.
#include "cli.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>

#include "base/ascii.h"
#include "base/suggestion.h"
#include "chat_backend.h"

namespace stoka::app {
namespace {

constexpr const char* kAbout =
    "Lets a website talk about itself: a question gets two or three terse sentences and a real "
    "citation.\n"
    "Without a command, stoka opens a conversation on the terminal.";
constexpr const char* kExamples =
    "Examples:\n"
    "  stoka index content/\n"
    "  stoka chat \"tell me about bounded execution\"\n"
    "  stoka\n"
    "  stoka --url https://example.com    talk to a site that runs stoka serve\n\n"
    "Flags override STOKA_* variables, which override config.toml; 'stoka status -v' lists all "
    "settings.";

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> out;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) out.push_back("--" + name);
  return out;
}

// Returns an error if the first word is not a command, a flag or an argument; otherwise nothing.
std::optional<Error> unknown_word(const CLI::App& root, const CLI::App* chosen) {
  std::vector<std::string> rest = root.remaining(true);
  std::erase(rest, "--");  // the separator before arguments that look like flags
  if (rest.empty()) return std::nullopt;
  std::string word = rest.front().substr(0, rest.front().find('='));
  std::string help =
      chosen ? fmt::format("see 'stoka {} --help'", chosen->get_name()) : "see 'stoka --help'";
  if (word.starts_with("-") && word != "-")
    return Error(ErrorKind::usage,
                 fmt::format("unknown flag '{}'{}", word,
                             did_you_mean(word, option_names(chosen ? *chosen : root))),
                 help);
  if (chosen)
    return Error(ErrorKind::usage, fmt::format("unexpected argument '{}'", word),
                 "quote a question that has several words; " + help);
  return unknown_command(word);
}

// CLI11's messages can have several lines and begin with a capital letter; stoka's do not.
std::string first_line(std::string text) {
  text = text.substr(0, text.find('\n'));
  while (text.ends_with('.') || text.ends_with(' ')) text.pop_back();
  if (text.size() > 1 && !is_ascii_upper(text[1])) text[0] = to_lower(text[0]);
  return text;
}

// Adds one flag to the parser. Its checks and its relations to other flags are added later.
CLI::Option* bind(CLI::App& app, const Flag& flag) {
  return std::visit(
      [&](auto* target) -> CLI::Option* {
        using Value = std::remove_pointer_t<decltype(target)>;
        if constexpr (std::is_same_v<Value, bool>) {
          return target ? app.add_flag(flag.names, *target, flag.help) : nullptr;
        } else if constexpr (std::is_same_v<Value, std::optional<std::string>>) {
          return app.add_option_function<std::string>(
              flag.names, [target](const std::string& value) { *target = value; }, flag.help);
        } else if constexpr (std::is_same_v<Value, std::optional<std::vector<std::string>>>) {
          return app.add_option_function<std::vector<std::string>>(
              flag.names,
              [target](std::vector<std::string> values) {
                std::erase(values, "");
                *target = std::move(values);
              },
              flag.help);
        } else {
          return app.add_option(flag.names, *target, flag.help);
        }
      },
      flag.target);
}

void add_checks(CLI::Option& option, const Flag& flag) {
  const bool whole = !std::holds_alternative<double*>(flag.target);
  if (flag.max > flag.min && whole)
    option.check(
        CLI::Range(static_cast<int>(flag.min), static_cast<int>(flag.max)).description(""));
  else if (flag.max > flag.min)
    option.check(CLI::Range(flag.min, flag.max).description(""));
  // An empty value often comes from an unset shell variable; it must not select the default.
  if (flag.completion != Completion::none && !flag.is_argument())
    option.check(CLI::Validator(
        [](const std::string& value) {
          return value.empty() ? std::string("must not be empty") : std::string();
        },
        ""));
  if (flag.check)
    option.check(
        CLI::Validator([check = flag.check](std::string& value) { return check(value); }, ""));
  else if (!flag.choices.empty())
    option.check(CLI::IsMember(flag.choices).description(""));
}

void add_flags(CLI::App& app, const FlagList& flags) {
  std::map<std::string, CLI::Option*> options;
  for (const Flag& flag : flags) {
    CLI::Option* const option = bind(app, flag);
    if (!option) continue;
    options[flag.long_name()] = option;
    add_checks(*option, flag);
    if (flag.required) option->required();
    if (flag.show_default) option->capture_default_str();
    if (!flag.is_switch()) option->type_name(flag.value);
    if (flag.optional_value)
      option->expected(0, 1)->take_all();
    else if (flag.is_list() && !flag.is_argument())
      option->allow_extra_args(false);
    if (flag.comma_separated) option->delimiter(',');
  }
  for (const Flag& flag : flags) {
    for (const std::string& other : flag.needs)
      options.at(flag.long_name())->needs(options.at(other));
    for (const std::string& other : flag.excludes)
      options.at(flag.long_name())->excludes(options.at(other));
  }
}

void add_common_flags(FlagList& flags, CommonFlags& common) {
  add(flags, {{.names = "--config",
               .target = &common.config_file,
               .help = "read the settings from this file",
               .value = "FILE",
               .completion = Completion::files},
              {.names = "--store",
               .target = &common.store,
               .help = "use the index at sqlite:PATH or postgres://…",
               .value = "URL",
               .completion = Completion::files},
              {.names = "--record",
               .target = &common.record,
               .help = "record the responses of model servers in this file",
               .value = "FILE",
               .completion = Completion::files},
              {.names = "--replay",
               .target = &common.replay,
               .help = "replay the responses recorded in this file, without servers",
               .value = "FILE",
               .completion = Completion::files},
              {.names = "--json", .target = &common.json, .help = "print the result as JSON"},
              {.names = "-q,--quiet",
               .target = &common.quiet,
               .help = "print no warnings and no progress"},
              {.names = "-v,--verbose", .target = &common.verbose, .help = "print more details"},
              {.names = "--color",
               .target = &common.color,
               .help = "use colour: auto, always or never",
               .value = "WHEN",
               .choices = {"auto", "always", "never"}},
              {.names = "-h,--help", .help = "show help and examples"}});
}

// Makes the parser for a table of flags. The table must outlive the parser.
std::unique_ptr<CLI::App> make_parser(const FlagTable& table) {
  auto out = std::make_unique<CLI::App>(kAbout, "stoka");
  CLI::App& root = *out;
  root.footer(kExamples);
  root.set_version_flag("-V,--version", "stoka " STOKA_VERSION, "show the version");
  root.set_help_flag("-h,--help", "show help and examples");
  root.require_subcommand(0, 1);
  root.allow_extras();
  root.get_formatter()->column_width(34);
  add_flags(root, table.program.flags);
  for (const CommandFlags& one : table.commands) {
    CLI::App& sub = *root.add_subcommand(one.command->name, one.command->summary);
    sub.footer(std::string("Examples:\n") + one.command->examples);
    sub.allow_extras();
    sub.get_formatter()->column_width(34);
    add_flags(sub, one.flags);
  }
  return out;
}

}  // namespace

FlagTable flag_table(CommonFlags& common, std::optional<std::string>* url) {
  static std::optional<std::string> unused;
  FlagTable out;
  add(out.program.flags, {url_flag(url ? *url : unused, "talk to the stoka server at this address"),
                          {.names = "-V,--version", .help = "show the version"}});
  add_common_flags(out.program.flags, common);
  for (const Command& command : commands()) {
    CommandFlags one{&command, {}, {}};
    one.run = command.declare(one.flags);
    add_common_flags(one.flags, common);
    out.commands.push_back(std::move(one));
  }
  return out;
}

std::string help_text(std::string_view command) {
  CommonFlags unused;
  const FlagTable table = flag_table(unused);
  const auto parser = make_parser(table);
  return command.empty() ? parser->help()
                         : parser->get_subcommand(std::string(command))->help("stoka");
}

namespace {

// Whether --json is among the arguments, which may be arguments that cannot be parsed.
bool asks_for_json(int argc, char** argv) {
  for (int i = 1; i < argc && std::strcmp(argv[i], "--") != 0; ++i)
    if (std::strcmp(argv[i], "--json") == 0) return true;
  return false;
}

int parse_and_run(App& app, int argc, char** argv) {
  std::optional<std::string> url;
  const FlagTable table = flag_table(app.common, &url);
  const auto parser = make_parser(table);
  try {
    parser->parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    print(parser->help());  // the help of the chosen subcommand, if there is one
    return 0;
  } catch (const CLI::CallForVersion& version) {
    print(std::string(version.what()) + "\n");
    return 0;
  } catch (const CLI::ParseError& error) {
    app.common.json = asks_for_json(argc, argv);
    std::vector<CLI::App*> chosen = parser->get_subcommands();
    return app.report({ErrorKind::usage, first_line(error.what()),
                       chosen.empty()
                           ? "see 'stoka --help'"
                           : fmt::format("see 'stoka {} --help'", chosen.front()->get_name())});
  }
  std::vector<CLI::App*> chosen = parser->get_subcommands();
  if (auto error = unknown_word(*parser, chosen.empty() ? nullptr : chosen.front()))
    return app.report(*error);
  if (url && !chosen.empty())
    return app.report({ErrorKind::usage, "--url before a command applies only to the conversation",
                       fmt::format("if the command accepts it, write: stoka {} --url URL",
                                   chosen.front()->get_name())});
  if (chosen.empty() && !(isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)))
    return app.report({ErrorKind::usage, "there is no command, and no terminal for a conversation",
                       "'stoka chat -' answers questions on standard input; see 'stoka --help'"});
  const CommandFlags* command = nullptr;
  for (const CommandFlags& one : table.commands)
    if (!chosen.empty() && chosen.front()->get_name() == one.command->name) command = &one;
  if (!command || command->command->reads_settings)
    if (auto loaded = app.load_config(); !loaded) return app.report(loaded.error());
  if (command) return command->run(app);
  return run_repl(app, url);
}

}  // namespace

int run_cli(int argc, char** argv) {
  App app;
  int code = 0;
  try {
    code = parse_and_run(app, argc, argv);
  } catch (const std::exception& error) {
    // The library returns errors; an exception that reaches this point is a bug or out of memory.
    return app.report({ErrorKind::internal, error.what(), "this is a bug in stoka"});
  }
  // If the reader has closed the pipe ("| head"), the failed write is not reported.
  if (int failed = output_error(); failed != 0 && failed != EPIPE)
    return app.report({ErrorKind::data,
                       fmt::format("cannot write the result: {}", std::strerror(failed)),
                       "free some space, or redirect the output elsewhere"});
  return code;
}

}  // namespace stoka::app
