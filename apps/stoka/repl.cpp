// The REPL, with the local pipeline or with a remote site.
#include "terminal/repl.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "command.h"
#include "pipeline/discover.h"
#include "pipeline/explain.h"
#include "pipeline/turn.h"
#include "remote_site.h"
#include "runtime.h"

namespace stoka::app {
namespace {

class LocalConversation final : public terminal::Conversation {
 public:
  LocalConversation(pipeline::Engine& engine, UuidSource& ids) : engine_(engine), ids_(ids) {
    session_.id = ids.uuid();
    session_.visitor_id = ids.uuid();
  }

  Result<> ask(std::string_view query, const EventSink& sink, std::stop_token stop) override {
    pipeline::TurnRequest request{
        std::string(query), session_.id, session_.visitor_id, "", {page_, "", {}, {}}};
    STOKA_ASSIGN(pipeline::TurnResult outcome, pipeline::run_turn(engine_, request, sink, stop));
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
  UuidSource& ids_;
  Session session_;
  std::string page_;
  std::string why_;
};

class RemoteConversation final : public terminal::Conversation {
 public:
  explicit RemoteConversation(const serve::SiteClient& remote) : remote_(remote) {}

  // Requests the first hint, so that a wrong address is reported before the first question.
  Result<> open() {
    STOKA_ASSIGN(pipeline::Ambient ambient, remote_.context("/"));
    first_hint_ = std::move(ambient.hint);
    return {};
  }

  Result<> ask(std::string_view query, const EventSink& sink, std::stop_token stop) override {
    pipeline::TurnRequest request;
    request.query = query;
    request.session_id = status_.session_id;
    request.visitor_id = status_.visitor_id;
    request.page.page = status_.page;
    STOKA_TRY(remote_.chat(
        request,
        [&](const Event& event) {
          if (const auto* ready = std::get_if<ReadyEvent>(&event)) {
            asked_ = true;
            status_.session_id = ready->session_id;
            status_.visitor_id = ready->visitor_id;
          } else if (const auto* cite = std::get_if<CiteEvent>(&event)) {
            if (std::find(shown_.begin(), shown_.end(), cite->citation.slug) == shown_.end())
              shown_.push_back(cite->citation.slug);
          } else if (const auto* done = std::get_if<DoneEvent>(&event)) {
            status_.turns = done->turns;
          }
          sink(event);
        },
        std::move(stop)));
    return {};
  }
  Result<> new_session() override {
    status_.session_id.clear();
    status_.turns = 0;
    shown_.clear();
    asked_ = false;
    return {};
  }
  Result<> set_page(std::string_view url) override {
    status_.page = url;
    return {};
  }
  Status status() const override { return status_; }
  std::vector<std::string> shown_slugs() const override { return shown_; }
  std::string why() const override {
    return asked_ ? "the answers come from " + remote_.url() + ", which does not explain them."
                  : "";
  }
  std::string hint() override {
    if (auto first = std::exchange(first_hint_, std::nullopt)) return *first;
    const auto ambient = remote_.context(status_.page.empty() ? "/" : status_.page);
    return ambient ? ambient->hint : "";
  }
  std::vector<std::string> pages() const override { return {}; }

 private:
  const serve::SiteClient& remote_;
  Status status_;
  std::vector<std::string> shown_;
  std::optional<std::string> first_hint_;
  bool asked_ = false;
};

int terminal_columns() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

int run_conversation(App& app, terminal::Conversation& conversation) {
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
  auto ended = repl.run();
  return ended ? 0 : app.report(ended.error());
}

}  // namespace

int run_repl(App& app) {
  auto runtime = make_runtime(app, store::OpenMode::read);
  if (!runtime) return app.report(runtime.error());
  // An unusable index is reported before the first question.
  if (auto ready = (*runtime)->engine().check_index(); !ready) return app.report(ready.error());
  LocalConversation conversation((*runtime)->engine(), app.ids);
  return run_conversation(app, conversation);
}

int run_repl(App& app, const std::string& url) {
  auto site = RemoteSite::make(app, url);
  if (!site) return app.report(site.error());
  RemoteConversation conversation((*site)->remote());
  if (auto opened = conversation.open(); !opened) return app.report(opened.error());
  return run_conversation(app, conversation);
}

}  // namespace stoka::app
