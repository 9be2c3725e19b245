#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <thread>

#include "command.h"
#include "serve/journal.h"
#include "serve/metrics.h"
#include "serve/openapi.h"
#include "serve/server.h"
#include "serve_options.h"
#include "wiring.h"

namespace stoka::app {
namespace {

struct Flags {
  std::string host;
  std::string port;
  bool openapi = false;
  CLI::Option* host_given = nullptr;
  CLI::Option* port_given = nullptr;
};

// SIGTERM and SIGINT, taken by a thread of their own. Made before any other thread, so that no
// other has them.
class Signals {
 public:
  Signals() {
    sigemptyset(&set_);
    for (const int signal : {SIGTERM, SIGINT, SIGUSR2}) sigaddset(&set_, signal);
    pthread_sigmask(SIG_BLOCK, &set_, &before_);
  }
  ~Signals() {
    stop();
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  void stop() {
    if (!thread_.joinable()) return;
    pthread_kill(thread_.native_handle(), SIGUSR2);
    thread_.join();
  }
  void each(std::function<void()> asked_to_stop) {
    thread_ = std::thread([this, asked = std::move(asked_to_stop)] {
      for (int signal = 0; sigwait(&set_, &signal) == 0 && signal != SIGUSR2;) asked();
    });
  }

 private:
  sigset_t set_{};
  sigset_t before_{};
  std::thread thread_;
};

// A client and its upstream take a descriptor each.
void raise_descriptors() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

int run(App& app, const Flags& flags) {
  if (flags.host_given->count() > 0)
    if (auto set = app.set("serve.host", flags.host); !set) return app.report(set.error());
  if (flags.port_given->count() > 0)
    if (auto set = app.set("serve.port", flags.port); !set) return app.report(set.error());
  auto options = serve_options(app.config());
  if (!options) return app.report(options.error());
  if (flags.openapi) {
    print(serve::openapi_json(options->site.bot_enabled, STOKA_VERSION) + "\n");
    return 0;
  }
  raise_descriptors();
  Signals signals;

  serve::JournalOptions writing;
  writing.json = app.common.json || isatty(STDERR_FILENO) == 0;
  writing.info = !app.common.quiet;
  writing.queries = app.config().boolean("serve.log_queries");
  serve::Journal journal(app.clock, writing, [](std::string_view line) { print_error(line); });
  serve::Metrics metrics(STOKA_VERSION);
  app.log.redirect(&journal);
  const int code = [&] {
    auto wired = wire(app, store::OpenMode::read);
    if (!wired) return app.report(wired.error());
    watch((*wired)->providers(), metrics);
    auto server = serve::Server::listen((*wired)->engine(), journal, metrics, std::move(*options));
    if (!server) return app.report(server.error());
    journal.info(fmt::format("listening on {}/", (*server)->url()));
    signals.each([&server] { (*server)->stop(); });
    if (auto index = (*wired)->engine().check_index(); !index)
      journal.warning(fmt::format("not ready: {}. {}", index.error().message, index.error().hint));
    (*server)->run();
    signals.stop();
    journal.info("stopped");
    return 0;
  }();
  app.log.redirect(nullptr);
  return code;
}

}  // namespace

Run declare_serve(CLI::App& cli) {
  auto flags = std::make_shared<Flags>();
  flags->host_given =
      cli.add_option("--host", flags->host, "address to listen on (default 127.0.0.1)")
          ->type_name("ADDRESS");
  flags->port_given =
      cli.add_option("--port", flags->port, "port (default 8787); 0: any")->type_name("PORT");
  cli.add_flag("--openapi", flags->openapi, "print the routes as OpenAPI 3.1, and serve nothing");
  return [flags](App& app) { return run(app, *flags); };
}

}  // namespace stoka::app
