#include "cli.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/nearest.h"

namespace stoka::app {
namespace {

constexpr const char* kAbout =
    "A site that can talk about itself: ask, and get two or three terse sentences and a real "
    "citation.\n"
    "Without a command on a terminal, stoka opens a conversation.";
constexpr const char* kExamples =
    "Examples:\n"
    "  stoka index content/\n"
    "  stoka chat \"tell me about bounded execution\"\n"
    "  stoka\n"
    "  stoka --url https://example.com    talk to a site that runs stoka serve\n\n"
    "Settings come from flags, then STOKA_* variables, then config.toml; 'stoka status -v' lists "
    "them.";

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> out;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) out.push_back("--" + name);
  return out;
}

// What was on the command line and belongs to nothing.
std::optional<Error> unknown_word(const CLI::App& root, const CLI::App* chosen) {
  std::vector<std::string> rest = root.remaining(true);
  std::erase(rest, "--");  // only says that what follows is no flag
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
    return Error(ErrorKind::usage, fmt::format("unexpected '{}'", word),
                 "quote a question that has several words; " + help);
  std::vector<std::string> names;
  for (const Command& command : commands()) names.push_back(command.name);
  return Error(ErrorKind::usage,
               fmt::format("unknown command '{}'{}", word, did_you_mean(word, names)), help);
}

// CLI11's own messages are several lines at times; ours are one.
std::string first_line(std::string text) {
  text = text.substr(0, text.find('\n'));
  while (text.ends_with('.') || text.ends_with(' ')) text.pop_back();
  auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  if (text.size() > 1 && is_upper(text[0]) && !is_upper(text[1]))
    text[0] = static_cast<char>(text[0] + 32);
  return text;
}

}  // namespace

Cli make_cli(Common& common) {
  Cli out{std::make_unique<CLI::App>(kAbout, "stoka"), {}, std::make_shared<UrlFlag>()};
  CLI::App& root = *out.root;
  root.footer(kExamples);
  root.set_version_flag("--version", "stoka " STOKA_VERSION);
  root.set_help_flag("-h,--help", "show help and examples");
  root.require_subcommand(0, 1);
  root.allow_extras();
  root.get_formatter()->column_width(34);
  auto common_flags = [&common](CLI::App& app) {
    app.add_option("--config", common.config_file, "read settings from this file")
        ->type_name("FILE");
    app.add_option("--store", common.store, "where the index lives: sqlite:PATH or postgres://…")
        ->type_name("URL");
    app.add_option("--record", common.record, "write what model servers say to this file")
        ->type_name("FILE");
    app.add_option("--replay", common.replay, "answer from such a file, ask no server")
        ->type_name("FILE");
    app.add_flag("--json", common.json, "machine-readable output");
    app.add_flag("-q,--quiet", common.quiet, "no warnings, no progress");
    app.add_flag("-v,--verbose", common.verbose, "say more on stderr");
    app.add_option("--color", common.color, "auto, always or never")
        ->type_name("WHEN")
        ->check(CLI::IsMember({"auto", "always", "never"}).description(""));
  };
  out.url->declare(root, "talk to the stoka server at this address");
  common_flags(root);
  for (const Command& command : commands()) {
    CLI::App& sub = *root.add_subcommand(command.name, command.summary);
    sub.footer(std::string("Examples:\n") + command.examples);
    sub.allow_extras();
    sub.get_formatter()->column_width(34);
    out.runs[command.name] = command.declare(sub);
    common_flags(sub);
  }
  return out;
}

namespace {

int parse_and_run(App& app, int argc, char** argv) {
  Cli cli = make_cli(app.common);
  try {
    cli.root->parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    print(cli.root->help());  // of the chosen subcommand, if there is one
    return 0;
  } catch (const CLI::CallForVersion& version) {
    print(std::string(version.what()) + "\n");
    return 0;
  } catch (const CLI::ParseError& error) {
    std::vector<CLI::App*> chosen = cli.root->get_subcommands();
    return app.report({ErrorKind::usage, first_line(error.what()),
                       chosen.empty()
                           ? "see 'stoka --help'"
                           : fmt::format("see 'stoka {} --help'", chosen.front()->get_name())});
  }
  std::vector<CLI::App*> chosen = cli.root->get_subcommands();
  if (auto error = unknown_word(*cli.root, chosen.empty() ? nullptr : chosen.front()))
    return app.report(*error);
  if (cli.url->given() && !chosen.empty())
    return app.report(
        {ErrorKind::usage, "--url before a command is for the conversation alone",
         fmt::format("stoka {} --url URL, if it takes one", chosen.front()->get_name())});
  if (chosen.empty() && !(isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))) {
    if (app.common.json) return app.report({ErrorKind::usage, "no command", "see 'stoka --help'"});
    print_error(cli.root->help());
    return exit_code(ErrorKind::usage);
  }
  bool needs_config = chosen.empty() || chosen.front()->get_name() != "completion";
  if (needs_config)
    if (auto loaded = app.load_config(); !loaded) return app.report(loaded.error());
  if (!chosen.empty()) return cli.runs.at(chosen.front()->get_name())(app);
  return cli.url->given() ? run_repl(app, cli.url->url) : run_repl(app);
}

}  // namespace

int run_cli(int argc, char** argv) {
  App app;
  int code = 0;
  try {
    code = parse_and_run(app, argc, argv);
  } catch (const std::exception& error) {
    // Rooms return errors; what is thrown past them is a bug, or no memory.
    return app.report({ErrorKind::internal, error.what(), "this is a bug in stoka"});
  }
  // A reader that had enough ("| head") is no failure.
  if (int lost = output_error(); lost != 0 && lost != EPIPE)
    return app.report({ErrorKind::data,
                       fmt::format("cannot write the result: {}", std::strerror(lost)),
                       "make room, or send it elsewhere"});
  return code;
}

}  // namespace stoka::app
