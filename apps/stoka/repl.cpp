// The REPL, and its conversation held by the pipeline of this process.
#include "terminal/repl.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <filesystem>

#include "command.h"
#include "pipeline/discover.h"
#include "pipeline/explain.h"
#include "pipeline/turn.h"
#include "remote_conversation.h"
#include "remote_site.h"
#include "wiring.h"

namespace stoka::app {
namespace {

class LocalConversation final : public terminal::Conversation {
 public:
  LocalConversation(pipeline::Engine& engine, Ids& ids) : engine_(engine), ids_(ids) {
    session_.id = ids.uuid();
    session_.visitor_id = ids.uuid();
  }

  Result<> ask(std::string_view query, const EventSink& sink, std::stop_token stop) override {
    pipeline::TurnRequest request{
        std::string(query), session_.id, session_.visitor_id, "", {page_, "", {}, {}}};
    STOKA_ASSIGN(pipeline::Outcome outcome, pipeline::run_turn(engine_, request, sink, stop));
    session_ = std::move(outcome.session);
    why_ = pipeline::explain(outcome.turn);
    return {};
  }

  Result<> new_session() override {
    std::string visitor = session_.visitor_id;
    session_ = {};
    session_.id = ids_.uuid();
    session_.visitor_id = std::move(visitor);
    why_.clear();
    return {};
  }

  Result<> set_page(std::string_view url) override {
    page_ = url;
    return {};
  }

  Status status() const override {
    return {session_.id, session_.visitor_id, session_.turns, session_.current_topic(), page_};
  }

  std::vector<std::string> shown_slugs() const override { return session_.shown_slugs; }
  std::string why() const override { return why_; }

  std::string hint() override {
    auto ambient = pipeline::ambient(engine_, page_.empty() ? "/" : page_);
    return ambient ? ambient->hint : "";
  }

  std::vector<std::string> pages() const override {
    std::vector<std::string> out;
    if (auto catalog = engine_.catalog())
      for (const store::DocumentInfo& info : (*catalog)->documents())
        out.push_back(info.document.url);
    return out;
  }

 private:
  pipeline::Engine& engine_;
  Ids& ids_;
  Session session_;
  std::string page_;
  std::string why_;
};

int terminal_columns() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

int converse(App& app, terminal::Conversation& conversation) {
  auto interrupt = terminal::Interrupt::install({.output = STDOUT_FILENO});
  if (!interrupt) return app.report(interrupt.error());

  std::error_code ignored;
  std::filesystem::create_directories(App::state_dir(), ignored);
  terminal::ReplOptions options;
  options.capabilities = app.capabilities(STDOUT_FILENO);
  options.columns = terminal_columns;
  options.json = app.common.json;
  options.input = STDIN_FILENO;
  terminal::LineEditorOptions editing;
  editing.editing = options.capabilities.tty;
  editing.history = App::state_dir() / "history";
  auto editor = terminal::make_line_editor(editing);
  terminal::Repl repl(
      conversation, *editor, **interrupt, [](std::string_view text) { print(text); }, options);
  auto left = repl.run();
  return left ? 0 : app.report(left.error());
}

}  // namespace

int run_repl(App& app) {
  auto wired = wire(app, store::OpenMode::read);
  if (!wired) return app.report(wired.error());
  // Said now and not after the first question.
  if (auto ready = (*wired)->engine().check_index(); !ready) return app.report(ready.error());
  LocalConversation conversation((*wired)->engine(), app.ids);
  return converse(app, conversation);
}

int run_repl(App& app, const std::string& url) {
  auto site = RemoteSite::make(app, url);
  if (!site) return app.report(site.error());
  RemoteConversation conversation((*site)->remote());
  if (auto opened = conversation.open(); !opened) return app.report(opened.error());
  return converse(app, conversation);
}

}  // namespace stoka::app
