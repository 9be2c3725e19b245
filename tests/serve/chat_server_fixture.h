// A chat server over the sample site on a free port, with built-in parts or model servers.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "chat_client.h"
#include "embed/tei.h"
#include "generate/openai_generator.h"
#include "net/http_client.h"
#include "net/recording.h"
#include "pipeline/site_fixture.h"
#include "rerank/remote.h"
#include "serve/routes.h"
#include "serve/server.h"
#include "support/setting_names.h"
#include "support/upstream/fake_upstream.h"

namespace stoka::test {

inline constexpr const char* kQuestion = "tell me about bounded execution";

// Whether the condition becomes true within 20 seconds.
inline bool eventually(const std::function<bool()>& so) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!so()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

struct ChatServerOptions {
  // Addresses of model servers; empty means the built-in part.
  std::string embedder = {}, reranker = {}, generator = {};
  SemaphoreOptions gate = {};  // of each model server
  net::Timeouts deadlines = {};
  net::Milliseconds query_timeout = embed::kQueryTimeout;  // of the embedder
  net::CircuitBreakerOptions breaker = {};
  std::filesystem::path record = {}, replay = {};
  bool sample = true;  // false: the index is empty
  serve::ServerOptions server = {};
};

class ChatServerFixture {
 public:
  explicit ChatServerFixture(ChatServerOptions options = {})
      : options_(std::move(options)), parts(options_.sample && options_.embedder.empty()) {
    if (!options_.embedder.empty()) use_model_index();
    if (!options_.record.empty())
      tape_ = net::RecordingTransport::create(options_.record, client_).value();
    if (!options_.replay.empty()) tape_ = net::ReplayTransport::open(options_.replay, log).value();
    if (!options_.embedder.empty()) {
      parts.embedder = std::make_unique<embed::TeiEmbedder>(
          upstream("embedder", options_.embedder, net::ApiRoot::plain), parts.clock,
          options_.query_timeout);
      parts.settings.identity.embedder.clear();
    }
    if (!options_.reranker.empty())
      parts.reranker = std::make_unique<rerank::TeiReranker>(
          upstream("reranker", options_.reranker, net::ApiRoot::plain),
          rerank::RemoteRerankerOptions());
    if (!options_.generator.empty()) {
      generate::OpenAiOptions named;
      named.model = "fake-model";  // a named model needs no list of models
      parts.generator = std::make_unique<generate::OpenAiGenerator>(
          upstream("generator", options_.generator, net::ApiRoot::versioned), named, log);
    }
  }

  ~ChatServerFixture() {
    if (!server_) return;
    server_->stop();
    server_->stop();
    thread_.join();
  }

  // Starts the server. Parts may be replaced before the first call.
  serve::Server& server() {
    if (server_) return *server_;
    engine_ = std::make_unique<pipeline::Engine>(
        pipeline::Engine::Parts{*parts.store, *parts.store, *parts.embedder, *parts.reranker,
                                *parts.generator, parts.golden, parts.router, parts.guard,
                                parts.clock, ids_, log},
        parts.settings);
    options_.server.port = 0;
    options_.server.site.chat.requests = 0;
    server_ = serve::Server::listen(*engine_, log, metrics, options_.server).value();
    thread_ = std::thread([this] {
      server_->run();
      ended_ = true;
    });
    return *server_;
  }

  uint16_t port() { return server().port(); }
  bool ended() const { return ended_; }

  // The complete reply to a body, or to a question alone.
  ChatReply ask(const Json& body) {
    ChatClient client = start(body);
    return read_reply(client);
  }

  // Sends the request and reads nothing.
  ChatClient start(const Json& body) {
    ChatClient client(port());
    client.ask(body.is_string() ? Json{{"query", body}} : body);
    return client;
  }

  // The sum of the metric samples whose lines begin with `start`.
  double metric(const std::string& start) const {
    double out = 0;
    const std::string text = "\n" + metrics.text();
    for (size_t at = text.find("\n" + start); at != text.npos; at = text.find("\n" + start, at + 1))
      out += std::stod(text.substr(text.find(' ', text.find_first_of(" }", at + 1))));
    return out;
  }

  // Whether no answer is streamed and no place at a model server is taken.
  bool quiet() const {
    return metrics.open_streams.value() == 0 && metric("stoka_gate_taken") == 0 &&
           metric("stoka_gate_waiting") == 0;
  }

  std::string log_text() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  ChatServerOptions options_;
  mutable std::mutex mutex_;
  std::string lines_;
  RandomUuidSource ids_;
  net::HttpClient client_;
  std::unique_ptr<net::Transport> tape_;
  std::vector<std::unique_ptr<net::Upstream>> upstreams_;
  std::atomic<bool> ended_ = false;

 public:
  SiteFixture parts;
  serve::AccessLog log{parts.clock, {}, [this](std::string_view line) {
                         const std::lock_guard lock(mutex_);
                         lines_ += line;
                       }};
  serve::Metrics metrics{"0.0.0", serve::route_paths()};

 private:
  net::Upstream& upstream(const std::string& role, const std::string& url, net::ApiRoot root) {
    net::UpstreamOptions out{role, net::BaseUrl::parse(url, root).value(), {}, options_.deadlines};
    out.settings = testing::setting_names(role);
    out.semaphore = options_.gate;
    out.breaker = options_.breaker;
    out.retries = 0;
    upstreams_.push_back(std::make_unique<net::Upstream>(out, tape_ ? *tape_ : client_, log));
    const net::Upstream* const made = upstreams_.back().get();
    metrics.add_gauge("stoka_gate_taken", {{"gate", role}},
                      [made] { return static_cast<double>(made->semaphore().in_use()); });
    metrics.add_gauge("stoka_gate_waiting", {{"gate", role}},
                      [made] { return static_cast<double>(made->semaphore().waiting()); });
    return *upstreams_.back();
  }

  // Uses an index of the sample site with vectors of the fake server; made once a process.
  void use_model_index() {
    static TempFolder folder;
    static const fs::path made = [] {
      testing::FakeUpstream fake;
      net::HttpClient client;
      NullLog null_log;
      const FixedClock clock(kNow);
      net::Upstream server(
          {"embedder", net::BaseUrl::parse(fake.url(), net::ApiRoot::plain).value(), {}, {}},
          client, null_log);
      embed::TeiEmbedder model(server, clock);
      fs::path path = folder.path / "models.db";
      auto store = store::open("sqlite:" + path.string(), store::OpenMode::read_write).value();
      auto request = index_request({fs::path(STOKA_SOURCE_DIR) / "evals/site"});
      request.identity.embedder.clear();
      pipeline::run_index(store.get(), model, request, clock, null_log).value();
      return path;
    }();
    parts.store.reset();
    const fs::path mine = parts.folder.path / "models.db";
    fs::copy_file(made, mine);
    parts.url = "sqlite:" + mine.string();
    parts.store = store::open(parts.url, store::OpenMode::read_write).value();
    parts.reranker = std::make_unique<rerank::BuiltinReranker>(*parts.store);
  }

  std::unique_ptr<pipeline::Engine> engine_;
  std::unique_ptr<serve::Server> server_;
  std::thread thread_;
};

}  // namespace stoka::test
