#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/ascii.h"
#include "base/files.h"
#include "command.h"
#include "golden/watch.h"
#include "providers.h"
#include "runtime.h"
#include "serve/access_log.h"
#include "serve/metrics.h"
#include "serve/openapi.h"
#include "serve/routes.h"
#include "serve/server.h"
#include "store/deferred_store.h"

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

// Handles SIGTERM and SIGINT on its own thread. Must be constructed before any other thread, so
// that all threads inherit the blocked signals.
class SignalThread {
 public:
  SignalThread() {
    sigemptyset(&set_);
    for (const int signal : {SIGTERM, SIGINT, SIGUSR2}) sigaddset(&set_, signal);
    pthread_sigmask(SIG_BLOCK, &set_, &before_);
  }
  ~SignalThread() {
    stop();
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  void stop() {
    if (!thread_.joinable()) return;
    stopping_ = true;
    pthread_kill(thread_.native_handle(), SIGUSR2);
    thread_.join();
  }
  // Calls `on_signal` for each signal. SIGUSR2 only wakes the thread for stop().
  void start(std::function<void()> on_signal) {
    thread_ = std::thread([this, callback = std::move(on_signal)] {
      for (int signal = 0; sigwait(&set_, &signal) == 0 && !stopping_;)
        if (signal != SIGUSR2) callback();
    });
  }

 private:
  sigset_t set_{};
  sigset_t before_{};
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

// The number of file descriptors for the store, the workers' event loops and everything else.
constexpr size_t kReservedDescriptors = 128;

// Raises the limit of file descriptors, and lowers `connections` if the limit is still too low.
// Each client needs two descriptors: its own socket and that of an upstream.
void limit_connections(size_t& connections, Log& log) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  getrlimit(RLIMIT_NOFILE, &limit);
  const size_t max = limit.rlim_cur > 2 * kReservedDescriptors
                         ? (static_cast<size_t>(limit.rlim_cur) - kReservedDescriptors) / 2
                         : kReservedDescriptors / 2;
  if (connections <= max) return;
  log.warning(
      fmt::format("at most {} connections at a time, because the limit of file descriptors is {}; "
                  "raise it (ulimit -n), or lower serve.connections",
                  max, limit.rlim_cur));
  connections = max;
}

// Tells the allocator to keep freed memory for the next turn: returning it to the system and
// requesting it again would cost more.
void tune_allocator() {
#ifdef __GLIBC__
  mallopt(M_ARENA_MAX, 4);
  mallopt(M_TRIM_THRESHOLD, 8 << 20);
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
#endif
}

// Opens the store. If the database is down, returns a store that reports this error until the
// database is back, so that the server can start.
Result<std::unique_ptr<store::Store>> open_store_or_retry(const App& app) {
  auto opened = app.open_store(store::OpenMode::read);
  if (opened || !retryable(opened.error().kind)) return opened;
  return store::open_deferred(
      store::describe(app.store_url()),
      store::commit_concurrency(static_cast<size_t>(app.config().integer("database.connections"))),
      opened.error(), [&app] { return app.open_store(store::OpenMode::read); });
}

constexpr uint64_t kMaxKeyFile = 64u << 10;

std::optional<long> whole_number(std::string_view text) {
  long out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size() || out < 0 || out > 1000000)
    return std::nullopt;
  return out;
}

// Reads a rate limit: "30/300" is 30 requests in 300 seconds, "0" is no limit.
Result<serve::RateLimit> rate_limit(const Config& config, const std::string& key) {
  const std::string text(trimmed(config.text(key)));
  const size_t slash = std::min(text.find('/'), text.size());
  const std::string_view view = text;
  const auto requests = whole_number(view.substr(0, slash));
  const auto seconds = whole_number(view.substr(std::min(slash + 1, text.size())));
  if (requests && *requests == 0) return serve::RateLimit{};
  if (!requests || !seconds || *seconds == 0)
    return fail(ErrorKind::config, fmt::format("{} is '{}', which is not a rate limit", key, text),
                "write requests/seconds, e.g. 30/300, or 0 for no limit");
  return serve::RateLimit{static_cast<size_t>(*requests), std::chrono::seconds(*seconds)};
}

Error named(std::string_view key, const Error& error) {
  return {error.kind, fmt::format("{}: {}", key, error.message), error.hint};
}

Result<std::optional<serve::JwtVerifier>> tokens(const Config& config) {
  serve::JwtOptions options;
  for (const std::string& file : config.list("auth.key_files")) {
    auto key = read_file(file, kMaxKeyFile);
    if (!key) return fail(named("auth.key_files", key.error()));
    options.keys.push_back(std::move(*key));
  }
  options.audience = config.text("auth.audience");
  options.issuer = config.text("auth.issuer");
  if (options.keys.empty()) return std::optional<serve::JwtVerifier>();
  auto made = serve::JwtVerifier::make(options);
  if (!made) return fail(named("auth", made.error()));
  return std::optional(std::move(*made));
}

// Reads the settings of the server, and its key files. Errors name the setting.
Result<serve::ServerOptions> serve_options(const Config& config) {
  serve::ServerOptions out;
  out.host = config.text("serve.host");
  out.port = static_cast<uint16_t>(config.integer("serve.port"));
  out.max_connections = static_cast<size_t>(config.integer("serve.connections"));
  out.workers = static_cast<size_t>(config.integer("serve.workers"));
  out.shutdown_grace =
      std::chrono::milliseconds(static_cast<long>(config.number("serve.grace") * 1000));
  out.site.bot_enabled = config.boolean("serve.enabled");
  STOKA_ASSIGN(out.site.chat, rate_limit(config, "serve.chat_limit"));
  STOKA_ASSIGN(out.site.discover, rate_limit(config, "serve.discover_limit"));
  STOKA_ASSIGN(out.site.context, rate_limit(config, "serve.context_limit"));
  auto proxies = serve::NetworkSet::parse(config.list("serve.trusted_proxies"));
  if (!proxies) return fail(named("serve.trusted_proxies", proxies.error()));
  out.site.trusted_proxies = std::move(*proxies);
  auto cors = serve::Cors::make(config.list("serve.cors_origins"));
  if (!cors) return fail(named("serve.cors_origins", cors.error()));
  out.site.cors = std::move(*cors);
  STOKA_ASSIGN(out.site.token_verifier, tokens(config));
  return out;
}

// Makes the metrics count the failures and the queue lengths of the model servers.
void watch(Providers& providers, serve::Metrics& metrics) {
  for (const auto& upstream : providers.upstreams()) {
    const std::string role = upstream->options().role;
    const net::Upstream* const server = upstream.get();
    upstream->on_failure(
        [&metrics, role](ErrorKind kind) { metrics.upstream_errors(role, kind).add(); });
    metrics.add_gauge("stoka_gate_taken", {{"gate", role}},
                      [server] { return static_cast<double>(server->semaphore().in_use()); });
    metrics.add_gauge("stoka_gate_waiting", {{"gate", role}},
                      [server] { return static_cast<double>(server->semaphore().waiting()); });
  }
}

// Looks once a second whether the files of golden.dir have changed, and if so loads them again.
// While the files are invalid, the server keeps its golden data, and warns once for each change.
class GoldenReloader {
 public:
  // Constructs a reloader, which notices changes made after this point in time.
  explicit GoldenReloader(const App& app) : app_(app), watch_(app.config().text("golden.dir")) {}

  void start(Runtime& runtime, Log& log) {
    if (app_.config().text("golden.dir").empty()) return;
    thread_ = std::jthread([this, &runtime, &log](std::stop_token stop) {
      std::mutex mutex;
      std::condition_variable_any wake;
      for (std::unique_lock lock(mutex); !stop.stop_requested();) {
        wake.wait_for(lock, stop, std::chrono::seconds(1), [] { return false; });
        if (stop.stop_requested() || !watch_.changed()) continue;
        if (auto loaded = runtime.reload_golden(app_); loaded)
          log.info("the golden data was loaded again");
        else
          log.warning(
              fmt::format("the golden data stays as it was, because the changed files are "
                          "invalid: {}. {}",
                          loaded.error().message, loaded.error().hint));
      }
    });
  }
  // Ends the thread. Must be called before the runtime is destroyed.
  void stop() { thread_ = {}; }

 private:
  const App& app_;
  golden::DirectoryWatch watch_;
  std::jthread thread_;
};

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
  tune_allocator();
  SignalThread signals;

  serve::AccessLogOptions writing;
  writing.json = app.common.json || isatty(STDERR_FILENO) == 0;
  writing.info = !app.common.quiet;
  writing.queries = app.config().boolean("serve.log_queries");
  serve::AccessLog journal(app.clock, writing, [](std::string_view line) { print_stderr(line); });
  serve::Metrics metrics(STOKA_VERSION, serve::route_paths());
  journal.on_warning([&metrics] { metrics.warnings.add(); });
  limit_connections(options->max_connections, journal);
  app.log.redirect(&journal);
  const int code = [&] {
    GoldenReloader reloader(app);
    auto runtime = make_runtime(app, [&] { return open_store_or_retry(app); });
    if (!runtime) return app.report(runtime.error());
    watch((*runtime)->providers(), metrics);
    auto server =
        serve::Server::listen((*runtime)->engine(), journal, metrics, std::move(*options));
    if (!server) return app.report(server.error());
    journal.info(fmt::format("listening on {}/", (*server)->url()));
    signals.start([&server] { (*server)->stop(); });
    // The index is checked on another thread, because a model server may still be loading.
    std::jthread checking([&](std::stop_token stop) {
      auto index = (*runtime)->engine().check_index(stop);
      if (!index && !stop.stop_requested())
        journal.warning(
            fmt::format("not ready: {}. {}", index.error().message, index.error().hint));
    });
    reloader.start(**runtime, journal);
    (*server)->run();
    reloader.stop();
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
               .help = "the address to listen on (default 127.0.0.1)",
               .value = "ADDRESS"},
              {.names = "--port",
               .target = &values->port,
               .help = "the port to listen on (default 8787); 0 chooses a free port",
               .value = "PORT"},
              {.names = "--openapi",
               .target = &values->openapi,
               .help = "print the routes as OpenAPI 3.1, and do not start the server"}});
  return [values](App& app) { return run_serve(app, *values); };
}

}  // namespace stoka::app
