#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "command.h"
#include "serve/journal.h"
#include "serve/metrics.h"
#include "serve/openapi.h"
#include "serve/server.h"
#include "serve_options.h"
#include "store/late.h"
#include "wiring.h"

#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

namespace stoka::app {
namespace {

struct ServeFlags {
  std::optional<std::string> host;
  std::optional<std::string> port;
  bool openapi = false;
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
    over_ = true;
    pthread_kill(thread_.native_handle(), SIGUSR2);
    thread_.join();
  }
  void each(std::function<void()> asked_to_stop) {
    thread_ = std::thread([this, asked = std::move(asked_to_stop)] {
      for (int signal = 0; sigwait(&set_, &signal) == 0 && !over_;)
        if (signal != SIGUSR2) asked();
    });
  }

 private:
  sigset_t set_{};
  sigset_t before_{};
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

constexpr size_t kOwnDescriptors = 128;  // of the store, the workers' loops, the program

// A client and its upstream take a descriptor each.
void fit_descriptors(size_t& connections, Log& log) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  getrlimit(RLIMIT_NOFILE, &limit);
  const size_t most = limit.rlim_cur > 2 * kOwnDescriptors
                          ? (static_cast<size_t>(limit.rlim_cur) - kOwnDescriptors) / 2
                          : kOwnDescriptors / 2;
  if (connections <= most) return;
  log.warning(
      fmt::format("at most {} connections at a time: {} descriptors are allowed; raise "
                  "that (ulimit -n), or set serve.connections",
                  most, limit.rlim_cur));
  connections = most;
}

// What a turn has used the next one uses: giving it back to the system in between costs more.
void keep_memory() {
#ifdef __GLIBC__
  mallopt(M_ARENA_MAX, 4);
  mallopt(M_TRIM_THRESHOLD, 8 << 20);
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
#endif
}

// A database that is down now does not keep the server down: it says so until the database is back.
Result<std::unique_ptr<store::Store>> open_or_wait(const App& app) {
  auto opened = app.open_store(store::OpenMode::read);
  if (opened || !retryable(opened.error().kind)) return opened;
  return store::open_late(
      store::describe(app.store_url()),
      store::commits_with(static_cast<size_t>(app.config().integer("database.connections"))),
      opened.error(), [&app] { return app.open_store(store::OpenMode::read); });
}

int run_serve(App& app, const ServeFlags& flags) {
  if (flags.host)
    if (auto set = app.set("serve.host", *flags.host); !set) return app.report(set.error());
  if (flags.port)
    if (auto set = app.set("serve.port", *flags.port); !set) return app.report(set.error());
  auto options = serve_options(app.config());
  if (!options) return app.report(options.error());
  if (flags.openapi) {
    print(serve::openapi_json(options->site.bot_enabled, STOKA_VERSION) + "\n");
    return 0;
  }
  keep_memory();
  Signals signals;

  serve::JournalOptions writing;
  writing.json = app.common.json || isatty(STDERR_FILENO) == 0;
  writing.info = !app.common.quiet;
  writing.queries = app.config().boolean("serve.log_queries");
  serve::Journal journal(app.clock, writing, [](std::string_view line) { print_error(line); });
  serve::Metrics metrics(STOKA_VERSION);
  journal.on_warning([&metrics] { metrics.warnings.add(); });
  fit_descriptors(options->connections, journal);
  app.log.redirect(&journal);
  const int code = [&] {
    auto wired = wire(app, [&] { return open_or_wait(app); });
    if (!wired) return app.report(wired.error());
    watch((*wired)->providers(), metrics);
    auto server = serve::Server::listen((*wired)->engine(), journal, metrics, std::move(*options));
    if (!server) return app.report(server.error());
    journal.info(fmt::format("listening on {}/", (*server)->url()));
    signals.each([&server] { (*server)->stop(); });
    // Said once, without keeping anybody waiting for a model that loads.
    std::jthread checking([&](std::stop_token stop) {
      auto index = (*wired)->engine().check_index(stop);
      if (!index && !stop.stop_requested())
        journal.warning(
            fmt::format("not ready: {}. {}", index.error().message, index.error().hint));
    });
    (*server)->run();
    signals.stop();
    journal.info("stopped");
    return 0;
  }();
  app.log.redirect(nullptr);
  return code;
}

}  // namespace

Run declare_serve(FlagList& flags) {
  auto values = std::make_shared<ServeFlags>();
  add(flags, {{.names = "--host",
               .target = &values->host,
               .help = "address to listen on (default 127.0.0.1)",
               .value = "ADDRESS"},
              {.names = "--port",
               .target = &values->port,
               .help = "port (default 8787); 0: any",
               .value = "PORT"},
              {.names = "--openapi",
               .target = &values->openapi,
               .help = "print the routes as OpenAPI 3.1, and serve nothing"}});
  return [values](App& app) { return run_serve(app, *values); };
}

}  // namespace stoka::app
