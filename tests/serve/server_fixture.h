// A server over a small index on its own thread, and a client that sends raw bytes to it.
#pragma once

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "pipeline/site_fixture.h"
#include "serve/routes.h"
#include "serve/server.h"
#include "support/json.h"

namespace stoka::test {

using Json = nlohmann::json;

struct Reply {
  int status = 0;                                                 // 0: no reply
  std::vector<std::pair<std::string, std::string>> headers = {};  // names in lower case
  std::string body = {};

  std::string header(std::string_view name) const {
    for (const auto& [key, value] : headers)
      if (key == name) return value;
    return {};
  }
  Json json() const { return Json::parse(body, nullptr, false); }
  // The data of the first event of that name; null if there is none.
  Json event(std::string_view name) const {
    const std::string mark = "event: " + std::string(name) + "\ndata: ";
    const size_t at = body.find(mark);
    if (at == std::string::npos) return {};
    const size_t start = at + mark.size();
    return Json::parse(body.substr(start, body.find('\n', start) - start), nullptr, false);
  }
};

// A client on one connection. No function waits longer than twenty seconds.
class RawClient {
 public:
  explicit RawClient(uint16_t port, int receive_buffer = 0)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const timeval timeout{20, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
    if (receive_buffer > 0)
      ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ =
        ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  RawClient(RawClient&& other) noexcept
      : socket_(std::exchange(other.socket_, -1)),
        connected_(other.connected_),
        buffer_(std::move(other.buffer_)) {}
  RawClient& operator=(RawClient&&) = delete;
  ~RawClient() { disconnect(); }

  bool connected() const { return connected_; }
  void disconnect() {
    if (const int socket = std::exchange(socket_, -1); socket >= 0) ::close(socket);
  }
  void finish() { ::shutdown(socket_, SHUT_WR); }

  // Returns false if the server has closed the connection.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }

  Reply reply(bool head_only = false) {
    Reply out;
    const size_t end = wait_for("\r\n\r\n");
    if (end == std::string::npos) return out;
    std::string head = take(end + 4);
    out.status = std::atoi(head.substr(9, 3).c_str());
    for (size_t at = head.find("\r\n") + 2; at + 2 < head.size();) {
      const size_t eol = head.find("\r\n", at);
      const size_t colon = head.find(": ", at);
      out.headers.emplace_back(to_lower(head.substr(at, colon - at)),
                               head.substr(colon + 2, eol - colon - 2));
      at = eol + 2;
    }
    if (head_only || out.status == 304 || out.status == 204 || out.status < 200) return out;
    if (const std::string length = out.header("content-length"); !length.empty())
      out.body = take(std::strtoul(length.c_str(), nullptr, 10));
    else if (out.header("transfer-encoding") == "chunked")
      while (chunk(out.body)) {
      }
    else
      out.body = rest();
    return out;
  }
  Reply ask(std::string_view request) {
    send(request);
    return reply();
  }

  // Whether the text arrives.
  bool receives(std::string_view text) { return wait_for(text) != std::string::npos; }
  // All bytes until the server closes.
  std::string rest() {
    while (receive()) {
    }
    return std::exchange(buffer_, {});
  }
  // Whether the server closes without sending more.
  bool is_closed() { return rest().empty() && closed_; }

 private:
  bool receive() {
    char bytes[16384];
    const ssize_t got = ::recv(socket_, bytes, sizeof bytes, 0);
    if (got > 0) buffer_.append(bytes, static_cast<size_t>(got));
    if (got == 0 || (got < 0 && errno == ECONNRESET)) closed_ = true;
    return got > 0;
  }
  size_t wait_for(std::string_view text) {
    while (buffer_.find(text) == std::string::npos)
      if (!receive()) return std::string::npos;
    return buffer_.find(text);
  }
  std::string take(size_t count) {
    while (buffer_.size() < count && receive()) {
    }
    std::string out = buffer_.substr(0, count);
    buffer_.erase(0, count);
    return out;
  }
  bool chunk(std::string& body) {
    const size_t end = wait_for("\r\n");
    if (end == std::string::npos) return false;
    const size_t size = std::strtoul(take(end + 2).c_str(), nullptr, 16);
    body += take(size);
    take(2);
    return size > 0;
  }

  int socket_;
  bool connected_ = false;
  bool closed_ = false;
  std::string buffer_;
};

inline std::string get(std::string_view target, std::string_view headers = {}) {
  return "GET " + std::string(target) + " HTTP/1.1\r\nHost: x\r\n" + std::string(headers) + "\r\n";
}
inline std::string post(std::string_view target, std::string_view body,
                        std::string_view headers = {}) {
  return "POST " + std::string(target) +
         " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n" + std::string(headers) + "\r\n" + std::string(body);
}
inline std::string chat(const Json& body, std::string_view headers = {}) {
  return post("/api/stoka/chat", body.dump(), headers);
}

// A generator that streams text when the test calls say().
class ScriptedGenerator final : public generate::Generator {
 public:
  std::string name() const override { return "scripted"; }
  bool reads_prompt() const override { return false; }
  Result<std::unique_ptr<generate::GenerationStream>> begin(const generate::GenerationRequest&,
                                                            std::stop_token) override {
    return std::unique_ptr<generate::GenerationStream>(new Writing(state_));
  }

  // Acts on the latest answer, on its loop; false if none begins in time.
  bool say(std::string text) {
    return act([text = std::move(text)](generate::GenerationSink& reader) { reader.text(text); });
  }
  bool finish() {
    return act([](generate::GenerationSink& reader) { reader.finished(); });
  }
  bool wait_until_closed(size_t count) {
    return wait([this, count] { return state_->closed == count; });
  }
  bool wait_until_open(size_t count) {
    return wait([this, count] { return state_->opened == count; });
  }
  bool wait_until_paused() {
    return wait([this] { return state_->paused; });
  }
  bool wait_until_resumed() {
    return wait([this] { return !state_->paused; });
  }

 private:
  struct State {
    std::mutex mutex;
    net::EventLoop* loop = nullptr;
    generate::GenerationSink* reader = nullptr;
    size_t opened = 0, closed = 0;
    bool paused = false;
  };
  struct Writing final : generate::GenerationStream {
    explicit Writing(std::shared_ptr<State> given) : state(std::move(given)) {}
    ~Writing() override {
      const std::lock_guard lock(state->mutex);
      ++state->closed;
      if (state->reader == mine) state->reader = nullptr;
    }
    void start(net::EventLoop& loop, generate::GenerationSink& reader) override {
      mine = &reader;
      loop.defer([&reader] { reader.accepted(); });
      const std::lock_guard lock(state->mutex);
      state->loop = &loop;
      state->reader = &reader;
      ++state->opened;
    }
    void pause() override { set_paused(true); }
    void resume() override { set_paused(false); }
    void set_paused(bool paused) {
      const std::lock_guard lock(state->mutex);
      state->paused = paused;
    }
    Result<generate::FinishReason> result(std::stop_token) override {
      return generate::FinishReason::complete;
    }
    std::shared_ptr<State> state;
    generate::GenerationSink* mine = nullptr;
  };

  template <class F>
  bool wait(F reached) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < end) {
      {
        const std::lock_guard lock(state_->mutex);
        if (reached()) return true;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }
  bool act(std::function<void(generate::GenerationSink&)> what) {
    if (!wait([this] { return state_->reader != nullptr; })) return false;
    const std::lock_guard lock(state_->mutex);
    state_->loop->post([state = state_, reader = state_->reader, what = std::move(what)] {
      {
        const std::lock_guard alive(state->mutex);
        if (state->reader != reader) return;
      }
      what(*reader);
    });
    return true;
  }

  std::shared_ptr<State> state_ = std::make_shared<State>();
};

// Options and parts may be changed before the first call of port().
struct ServerFixture {
  SiteFixture parts{false};
  RandomUuidSource ids;
  serve::Metrics metrics{"1.2.3", serve::route_paths()};
  std::mutex mutex;
  std::string lines;  // of the log; see log_text()
  serve::AccessLog log{parts.clock, {}, [this](std::string_view line) {
                         const std::lock_guard lock(mutex);
                         lines += line;
                       }};
  serve::ServerOptions options;

  ServerFixture() {
    options.port = 0;
    options.workers = 2;
    fs::copy_file(small_index(), parts.folder.path / "stoka.db",
                  fs::copy_options::overwrite_existing);
    parts.store = store::open(parts.url, store::OpenMode::read_write).value();
    parts.embedder = std::make_unique<embed::BuiltinEmbedder>(*parts.store);
    parts.reranker = std::make_unique<rerank::BuiltinReranker>(*parts.store);
  }
  ~ServerFixture() { stop_now(); }

  uint16_t port() {
    if (!engine_) {
      engine_ = std::make_unique<pipeline::Engine>(
          pipeline::Engine::Parts{*parts.store, *parts.store, *parts.embedder, *parts.reranker,
                                  *parts.generator, parts.golden, parts.router, parts.guard,
                                  parts.clock, ids, log},
          parts.settings);
      auto listening = serve::Server::listen(*engine_, log, metrics, options);
      REQUIRE_MESSAGE(listening.has_value(), (listening ? "" : listening.error().message));
      server_ = std::move(*listening);
      port_ = server_->port();
      thread_ = std::thread([this] { server_->run(); });
    }
    return port_;
  }
  RawClient client(int receive_buffer = 0) {
    RawClient out(port(), receive_buffer);
    REQUIRE(out.connected());
    return out;
  }
  // Sends the request on a new connection.
  Reply ask(std::string_view request) { return client().ask(request); }

  ScriptedGenerator& use_scripted_generator() {
    auto made = std::make_unique<ScriptedGenerator>();
    ScriptedGenerator& out = *made;
    parts.generator = std::move(made);
    return out;
  }
  void stop() { server_->stop(); }
  void join() {
    if (thread_.joinable()) thread_.join();
  }
  // When it returns, all work of the server is done.
  void stop_now() {
    if (!server_) return;
    server_->stop();
    server_->stop();
    join();
    server_.reset();
  }
  std::string log_text() {
    const std::lock_guard lock(mutex);
    return lines;
  }

 private:
  // An index of some posts of the sample site.
  static const fs::path& small_index() {
    static TempFolder folder;
    static const fs::path made = [] {
      const fs::path posts = fs::path(STOKA_SOURCE_DIR) / "evals/site/blog";
      fs::create_directories(folder.path / "site/blog");
      std::vector<fs::path> all;
      for (const auto& entry : fs::directory_iterator(posts)) all.push_back(entry.path());
      std::sort(all.begin(), all.end());
      all.resize(8);
      all.push_back(posts / "philosophy-bounded-execution.md");
      for (const fs::path& post : all)
        fs::copy_file(post, folder.path / "site/blog" / post.filename(),
                      fs::copy_options::overwrite_existing);
      fs::path path = folder.path / "small.db";
      auto store = store::open("sqlite:" + path.string(), store::OpenMode::read_write).value();
      NullLog log;
      embed::BuiltinEmbedder embedder(*store);
      pipeline::run_index(store.get(), embedder, index_request({folder.path / "site"}),
                          FixedClock(kNow), log)
          .value();
      return path;
    }();
    return made;
  }

  std::unique_ptr<pipeline::Engine> engine_;
  std::unique_ptr<serve::Server> server_;
  std::thread thread_;
  uint16_t port_ = 0;
};

}  // namespace stoka::test
