#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/json.h"
#include "chat_backend.h"
#include "client/smoke.h"
#include "command.h"
#include "net/http_client.h"
#include "pages.h"
#include "runtime.h"
#include "serve/access_log.h"
#include "serve/metrics.h"
#include "serve/routes.h"
#include "serve/server.h"
#include "terminal/interrupt.h"
#include "terminal/style.h"
#include "text/width.h"

namespace stoka::app {
namespace {

using Json = nlohmann::ordered_json;
using Settings = std::vector<std::pair<std::string, std::string>>;
using How = client::SmokeResult::Status;

constexpr int kPagesCheck = 2;  // the number of the check that asks about pages of the site

// A local port that refuses connections. The port stays bound, so that no other process can listen.
class DeadPort {
 public:
  DeadPort() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (::bind(fd_, any, size) == 0 && ::getsockname(fd_, any, &size) == 0)
      port_ = ntohs(address.sin_port);
  }
  ~DeadPort() { ::close(fd_); }
  DeadPort(const DeadPort&) = delete;
  std::string url() const { return fmt::format("http://127.0.0.1:{}", port_); }

 private:
  int fd_;
  uint16_t port_ = 9;  // the discard service; used if no port can be reserved
};

// A server in this process, assembled as by `stoka serve`, with the default settings except for the
// given ones. The user's configuration is ignored.
class OwnServer {
 public:
  static Result<std::unique_ptr<OwnServer>> start(const Settings& settings) {
    std::unique_ptr<OwnServer> out(new OwnServer);
    for (const auto& [key, value] : settings) STOKA_TRY(out->app_.set(key, value));
    STOKA_ASSIGN(out->runtime_, make_runtime(out->app_, store::OpenMode::read));
    serve::ServerOptions options;
    options.port = 0;
    options.site.chat = options.site.discover = options.site.context = {};
    STOKA_ASSIGN(out->server_, serve::Server::listen(out->runtime_->engine(), out->journal_,
                                                     out->metrics_, std::move(options)));
    STOKA_ASSIGN(out->site_, client::SiteClient::make(*out->transport_, out->server_->url()));
    out->thread_ = std::thread([server = out->server_.get()] { server->run(); });
    return out;
  }
  ~OwnServer() {
    transport_.reset();  // closes the connections, for which the server would wait when it stops
    if (!thread_.joinable()) return;
    server_->stop();
    thread_.join();
  }
  OwnServer(const OwnServer&) = delete;

  const client::SiteClient& site() const { return *site_; }
  store::Store& store() { return runtime_->store(); }
  bool warned_of_reranker() const { return warned_; }

 private:
  OwnServer() { app_.log.redirect(&journal_); }

  App app_;
  std::atomic<bool> warned_ = false;
  serve::AccessLog journal_{
      app_.clock, {.json = true, .info = false, .queries = false}, [this](std::string_view line) {
        if (line.find("rerank") != std::string_view::npos) warned_ = true;
      }};
  serve::Metrics metrics_{STOKA_VERSION, serve::route_paths()};
  std::unique_ptr<Runtime> runtime_;
  std::unique_ptr<serve::Server> server_;
  std::optional<net::HttpClient> transport_{std::in_place};
  std::optional<client::SiteClient> site_;  // uses the transport, so the client is destroyed first
  std::thread thread_;
};

// Indexes the sample site with the default settings. The user's configuration is ignored.
Result<> index_sample(const TempFolder& folder, const std::string& store, std::stop_token stop) {
  App app;
  app.common.quiet = true;
  STOKA_TRY(app.set("store", store));
  STOKA_ASSIGN(const std::filesystem::path pages, write_sample_site(folder));
  STOKA_TRY(index_pages(app, {.paths = {pages}}, {}, std::move(stop)));
  return {};
}

// A function that is called with the result of each check.
using OnCheck = std::function<void(const client::SmokeResult&)>;

// Starts three servers in this process and checks them. The servers use the configured golden data,
// so that a changed voice is checked too.
Result<std::vector<client::SmokeResult>> check_own(const App& app, const OnCheck& on_check,
                                                   std::stop_token stop) {
  STOKA_ASSIGN(const auto folder, TempFolder::make());
  const Settings common = {{"store", "sqlite:" + (folder->path() / "stoka.db").string()},
                           {"golden.dir", app.config().text("golden.dir")}};
  STOKA_TRY(index_sample(*folder, common.front().second, stop));
  const DeadPort dead;
  const auto with = [&](const std::string& part) {
    Settings out = common;
    out.emplace_back(part + ".kind", "tei");
    out.emplace_back(part + ".url", dead.url());
    return OwnServer::start(out);
  };
  STOKA_ASSIGN(const auto server, OwnServer::start(common));
  STOKA_ASSIGN(const auto no_reranker, with("reranker"));
  STOKA_ASSIGN(const auto no_embedder, with("embedder"));
  const client::SmokeFixture house{no_reranker->site(), no_embedder->site(),
                                   [&] { return no_reranker->warned_of_reranker(); },
                                   server->store()};
  return client::run_smoke_checks(server->site(), client::sample_questions(), &house, on_check,
                                  std::move(stop));
}

Result<std::vector<client::SmokeResult>> check_site(const std::string& url,
                                                    const client::SmokeOptions& wishes,
                                                    const OnCheck& on_check, std::stop_token stop) {
  net::HttpClient transport;
  STOKA_ASSIGN(const client::SiteClient site, client::SiteClient::make(transport, url));
  STOKA_ASSIGN(const net::HttpResponse answer, site.get("/healthz", stop));
  // A proxy may hide /healthz, but it must pass on the routes that visitors need.
  if (answer.status != 200 || answer.content_type != "application/json")
    STOKA_TRY(site.context("/", stop));
  const client::SmokeQuestions questions = client::find_questions(site, wishes, stop);
  auto all = client::run_smoke_checks(site, questions, nullptr, on_check, stop);
  // If the check that asks about pages was skipped, the run has not shown that the site answers.
  for (const client::SmokeResult& one : all)
    if (one.number == kPagesCheck && one.status == How::skipped)
      return fail(ErrorKind::busy, "no question about the site's pages was asked: " + one.detail);
  return all;
}

std::string row(const client::SmokeResult& checked, const terminal::Capabilities& capabilities) {
  const auto [style, word] = checked.status == How::ok ? std::pair(terminal::Style::title, "ok")
                             : checked.status == How::failed
                                 ? std::pair(terminal::Style::error, "FAILED")
                                 : std::pair(terminal::Style::dim, "skipped");
  constexpr int kIndent = 13, kName = 42;
  const auto grey = [&](std::string_view text) {
    return terminal::paint(terminal::Style::meta, text, capabilities);
  };
  const std::string detail = terminal::sanitize_line(checked.detail);
  std::string out = fmt::format("{:>2}  {}  {:<{}}", checked.number,
                                terminal::paint(style, fmt::format("{:<7}", word), capabilities),
                                checked.name, kName);
  // Details that do not fit beside the name are printed below it.
  const int room = std::max(capabilities.columns - kIndent, 20);
  const bool beside = static_cast<int>(text::display_width(detail)) < room - kName;
  if (!capabilities.tty || beside) return out + " " + grey(detail) + "\n";
  for (const std::string& line : text::wrap(detail, static_cast<size_t>(room)))
    out += fmt::format("\n{:{}}{}", "", kIndent, grey(line));
  return out + "\n";
}

std::string smoke_json(const std::vector<client::SmokeResult>& all, size_t passed, size_t failed) {
  Json checks = Json::array();
  for (const client::SmokeResult& one : all)
    checks.push_back({{"n", one.number},
                      {"name", one.name},
                      {"ok", one.status == How::skipped ? Json() : Json(one.status == How::ok)},
                      {"detail", one.detail}});
  return to_json_text(Json{{"checks", std::move(checks)},
                           {"passed", passed},
                           {"failed", failed},
                           {"skipped", all.size() - passed - failed}});
}

struct SmokeFlags {
  std::optional<std::string> url;
  client::SmokeOptions wishes;
};

// The flags that need --url.
FlagList site_flags(client::SmokeOptions& wishes) {
  return {{.names = "--ask",
           .target = &wishes.question,
           .help = "ask this question, which a page of the site answers",
           .value = "QUERY"},
          {.names = "--cites",
           .target = &wishes.expected_slug,
           .help = "expect a citation of this page",
           .value = "SLUG"},
          {.names = "--page",
           .target = &wishes.page,
           .help = "expect recommendations for this page",
           .value = "URL"},
          {.names = "--void",
           .target = &wishes.unanswerable,
           .help = "ask this question, which no page of the site answers",
           .value = "QUERY"}};
}

int run_smoke(App& app, SmokeFlags& flags) {
  const std::optional<std::string>& url = flags.url;
  for (const Flag& flag : site_flags(flags.wishes))
    if (!url && !std::get<std::string*>(flag.target)->empty())
      return app.report({ErrorKind::usage, flag.names + " works only with --url",
                         "add --url, or leave out " + flag.names});
  if (auto allowed = refuse_local_flags(app.common); !allowed) return app.report(allowed.error());
  auto interrupt = terminal::Interrupt::install({.output = STDOUT_FILENO, .sigterm = true});
  if (!interrupt) return app.report(interrupt.error());
  const std::stop_token stop = (*interrupt)->begin();
  const terminal::Capabilities capabilities = app.capabilities(STDOUT_FILENO);
  const OnCheck on_check = [&](const client::SmokeResult& checked) {
    if (!app.common.json) print(row(checked, capabilities));
  };
  const auto all =
      url ? check_site(*url, flags.wishes, on_check, stop) : check_own(app, on_check, stop);
  if ((*interrupt)->end()) return exit_code(ErrorKind::cancelled);
  if (!all) return app.report(all.error());
  const auto count = [&](How how) {
    return static_cast<size_t>(
        std::count_if(all->begin(), all->end(),
                      [how](const client::SmokeResult& one) { return one.status == how; }));
  };
  const size_t passed = count(How::ok), failed = count(How::failed);
  print(app.common.json ? smoke_json(*all, passed, failed) + "\n"
                        : fmt::format("{} passed, {} failed, {} skipped\n", passed, failed,
                                      all->size() - passed - failed));
  return failed > 0 ? 1 : 0;
}

}  // namespace

Run declare_smoke(FlagList& flags) {
  auto values = std::make_shared<SmokeFlags>();
  add(flags, {url_flag(values->url, "check the stoka server at this address")});
  add(flags, site_flags(values->wishes));
  return [values](App& app) { return run_smoke(app, *values); };
}

}  // namespace stoka::app
