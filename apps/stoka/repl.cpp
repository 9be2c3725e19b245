// Runs the REPL over the local index or over a stoka server.
#include "terminal/repl.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

#include "chat_backend.h"
#include "command.h"

namespace stoka::app {
namespace {

int terminal_columns() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

int run_repl(App& app, const std::optional<std::string>& url) {
  const auto backend = make_chat_backend(app, url);
  if (!backend) return app.report(backend.error());
  // An unusable index or a wrong address is reported before the first question.
  auto hint = (*backend)->opening_hint();
  if (!hint) return app.report(hint.error());
  auto interrupt = terminal::Interrupt::install({.output = STDOUT_FILENO});
  if (!interrupt) return app.report(interrupt.error());

  std::error_code ignored;
  std::filesystem::create_directories(App::state_dir(), ignored);
  terminal::ReplOptions options;
  options.capabilities = app.capabilities(STDOUT_FILENO);
  options.columns = terminal_columns;
  options.json = app.common.json;
  options.input = STDIN_FILENO;
  options.hint = std::move(*hint);
  terminal::LineEditorOptions editing;
  editing.editing = options.capabilities.tty;
  editing.history = App::state_dir() / "history";
  auto editor = terminal::make_line_editor(editing);
  terminal::Repl repl(
      **backend, *editor, **interrupt, [](std::string_view text) { print(text); }, options);
  auto ended = repl.run();
  return ended ? 0 : app.report(ended.error());
}

}  // namespace stoka::app
