#include "chat_backend.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "client/site_client.h"
#include "net/http_client.h"
#include "pipeline/explain.h"
#include "runtime.h"

namespace stoka::app {
namespace {

using pipeline::ChatBackend;

pipeline::TurnRequest turn_request(const Session& session, const std::string& query,
                                   const PageContext& page) {
  return {query, session.id, session.visitor_id, "", page};
}

class LocalBackend final : public ChatBackend {
 public:
  explicit LocalBackend(std::unique_ptr<Runtime> runtime)
      : runtime_(std::move(runtime)), engine_(runtime_->engine()) {}

  Session new_session(std::string visitor_id) override {
    UuidSource& ids = engine_.parts().ids;
    Session out;
    out.id = ids.uuid();
    out.visitor_id = visitor_id.empty() ? ids.uuid() : std::move(visitor_id);
    return out;
  }

  Result<Answer> ask(Session& session, const std::string& query, const PageContext& page,
                     const EventSink& sink, std::stop_token stop) override {
    STOKA_ASSIGN(
        pipeline::TurnResult result,
        pipeline::run_turn(engine_, turn_request(session, query, page), sink, std::move(stop)));
    Answer out{result.stream_result.error, pipeline::explain(result), pipeline::trace(result)};
    session = std::move(result.session);
    return out;
  }

  Result<pipeline::Turn> prompt(const Session& session, const std::string& query,
                                const PageContext& page, std::stop_token stop) override {
    STOKA_ASSIGN(pipeline::Turn turn,
                 pipeline::prepare(engine_, turn_request(session, query, page), std::move(stop)));
    if (turn.canned_reply.empty()) pipeline::build_prompt(engine_, turn);
    return turn;
  }

  Result<pipeline::Recommendations> discover(const pipeline::DiscoverRequest& request) override {
    return pipeline::discover(engine_, request);
  }
  Result<pipeline::Ambient> context(const std::string& page) override {
    return pipeline::ambient(engine_, page);
  }
  Result<std::string> opening_hint() override {
    STOKA_TRY(engine_.check_index());
    const auto ambient = context("/");
    return ambient ? ambient->hint : "";
  }

  std::vector<std::string> pages() override {
    std::vector<std::string> out;
    if (auto catalog = engine_.catalog())
      for (const store::DocumentInfo& info : (*catalog)->documents())
        out.push_back(info.document.url);
    return out;
  }

 private:
  std::unique_ptr<Runtime> runtime_;
  pipeline::Engine& engine_;
};

class RemoteBackend final : public ChatBackend {
 public:
  RemoteBackend(std::unique_ptr<net::HttpClient> transport, client::SiteClient site)
      : transport_(std::move(transport)), site_(std::move(site)) {}

  Session new_session(std::string visitor_id) override {
    Session out;
    out.visitor_id = std::move(visitor_id);
    return out;
  }

  Result<Answer> ask(Session& session, const std::string& query, const PageContext& page,
                     const EventSink& sink, std::stop_token stop) override {
    Answer out;
    out.why = "the answers come from " + site_.url() + ", which does not explain them.";
    const EventSink update = [&](const Event& event) {
      if (const auto* ready = std::get_if<ReadyEvent>(&event)) {
        session.id = ready->session_id;
        session.visitor_id = ready->visitor_id;
      } else if (const auto* cite = std::get_if<CiteEvent>(&event)) {
        if (!session.has_shown(cite->citation.slug))
          session.shown_slugs.push_back(cite->citation.slug);
      } else if (const auto* done = std::get_if<DoneEvent>(&event)) {
        session.turns = done->turns;
      } else if (const auto* error = std::get_if<ErrorEvent>(&event)) {
        // An error event has no kind. The kinds chosen here give the right exit codes: 4 if the
        // question can be asked again, otherwise 3.
        out.error = Error(error->retryable ? ErrorKind::unavailable : ErrorKind::data,
                          error->message, error->retryable ? "ask again" : "");
      }
      sink(event);
    };
    STOKA_TRY(site_.chat(turn_request(session, query, page), update, std::move(stop)));
    return out;
  }

  Result<pipeline::Turn> prompt(const Session&, const std::string&, const PageContext&,
                                std::stop_token) override {
    return fail(ErrorKind::usage, site_.url() + " does not show its prompts");
  }
  Result<pipeline::Recommendations> discover(const pipeline::DiscoverRequest& request) override {
    return site_.discover(request);
  }
  Result<pipeline::Ambient> context(const std::string& page) override {
    return site_.context(page);
  }
  Result<std::string> opening_hint() override {
    STOKA_ASSIGN(pipeline::Ambient ambient, context("/"));
    return std::move(ambient.hint);
  }
  std::vector<std::string> pages() override { return {}; }

 private:
  std::unique_ptr<net::HttpClient> transport_;
  client::SiteClient site_;  // keeps a reference to the transport, so it is destroyed first
};

}  // namespace

Result<> refuse_local_flags(const CommonFlags& common, std::initializer_list<LocalFlag> more) {
  std::vector<LocalFlag> flags = {{"--store", !common.store.empty()},
                                  {"--record", !common.record.empty()},
                                  {"--replay", !common.replay.empty()}};
  flags.insert(flags.end(), more);
  for (const LocalFlag& flag : flags)
    if (flag.given)
      return fail(
          ErrorKind::usage,
          fmt::format("{} works only with the local index, which is not used here", flag.name),
          fmt::format("leave out {}", flag.name));
  return {};
}

Result<std::unique_ptr<ChatBackend>> make_chat_backend(App& app,
                                                       const std::optional<std::string>& url,
                                                       std::initializer_list<LocalFlag> local) {
  if (url) {
    STOKA_TRY(refuse_local_flags(app.common, local));
    auto transport = std::make_unique<net::HttpClient>();
    STOKA_ASSIGN(client::SiteClient site, client::SiteClient::make(*transport, *url));
    return std::make_unique<RemoteBackend>(std::move(transport), std::move(site));
  }
  STOKA_ASSIGN(auto runtime, make_runtime(app, store::OpenMode::read));
  return std::make_unique<LocalBackend>(std::move(runtime));
}

}  // namespace stoka::app
