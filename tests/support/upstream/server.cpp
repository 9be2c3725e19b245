// The sockets and threads of the fake server, and its record of requests.
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <list>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "support/sockets.h"
#include "support/upstream/behaviour.h"
#include "support/upstream/endpoints.h"
#include "support/upstream/fake_upstream.h"
#include "support/upstream/http_socket.h"

namespace stoka::testing {
namespace {

struct Entry {
  SeenRequest request;
  bool ended = false;
};

struct Connection {
  Descriptor socket;
  std::thread thread;
  bool ended = false;
};

nlohmann::json described(const SeenRequest& seen) {
  nlohmann::json out = {{"method", seen.method},
                        {"path", seen.path},
                        {"headers", seen.headers},
                        {"complete", seen.complete}};
  nlohmann::json body = nlohmann::json::parse(seen.body, nullptr, false);
  out["body"] = body.is_discarded() ? nlohmann::json(seen.body) : body;
  if (seen.disconnected_after) out["left_after_ms"] = seen.disconnected_after->count();
  return out;
}

}  // namespace

struct FakeUpstream::Server {
  explicit Server(FakeOptions given) : options(std::move(given)), listener(options.port) {
    Behaviour::parse(nlohmann::json({{"dialect", options.dialect}}).dump());
    acceptor = std::thread([this] { accept_all(); });
  }

  ~Server() {
    {
      std::lock_guard lock(mutex);
      closing = true;
      for (Connection& connection : open)
        if (connection.socket) ::shutdown(connection.socket.get(), SHUT_RDWR);
    }
    listener.shut_down();
    acceptor.join();
    for (Connection& connection : open) connection.thread.join();
  }

  void accept_all() {
    while (Descriptor socket = listener.accept()) {
      const int yes = 1;
      ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
      std::lock_guard lock(mutex);
      if (closing) return;
      for (auto it = open.begin(); it != open.end();) {
        if (!it->ended) {
          ++it;
          continue;
        }
        it->thread.join();
        it = open.erase(it);
      }
      ++accepted;
      Connection& connection = open.emplace_back();
      connection.socket = std::move(socket);
      connection.thread = std::thread([this, &connection] { serve(connection); });
    }
  }

  void serve(Connection& connection) {
    int fd;
    {
      std::lock_guard lock(mutex);
      fd = connection.socket.get();
    }
    HttpSocket socket(fd);
    while (auto request = socket.read())
      if (!handle(socket, *request)) break;
    std::lock_guard lock(mutex);
    connection.socket.close();
    connection.ended = true;
  }

  // Returns false if the connection cannot be used any more.
  bool handle(HttpSocket& socket, const FakeRequest& request) {
    if (request.target.starts_with("/_")) return send_response(socket, control(request), {}).keep;
    auto entry = std::make_shared<Entry>();
    entry->request.method = request.method;
    entry->request.path = request.target;
    entry->request.authorization = request.header("authorization");
    entry->request.headers = request.headers;
    entry->request.body = request.body;
    Behaviour behaviour;
    {
      std::lock_guard lock(mutex);
      entries.push_back(entry);
      behaviour = take(request);
    }
    const FakeResponse answer = respond(request, behaviour, options);
    const SendResult sent = send_response(socket, answer, behaviour);
    if (options.verbose)
      fmt::print(stderr, "{} {} {}{}{}\n", request.method, request.target, answer.status,
                 behaviour.fault.empty() ? "" : " " + behaviour.fault,
                 sent.left_after
                     ? fmt::format(", client left after {} ms", sent.left_after->count())
                     : "");
    {
      std::lock_guard lock(mutex);
      entry->request.complete = sent.complete;
      entry->request.disconnected_after = sent.left_after;
      entry->ended = true;
    }
    ended.notify_all();
    return sent.keep;
  }

  Behaviour take(const FakeRequest& request) {
    auto found = std::find_if(behaviours.begin(), behaviours.end(),
                              [&](const Behaviour& queued) { return queued.matches(request); });
    if (found == behaviours.end()) return {};
    Behaviour out = *found;
    if (found->times > 0 && --found->times == 0) behaviours.erase(found);
    return out;
  }

  FakeResponse control(const FakeRequest& request) {
    try {
      if (request.method == "GET" && request.target == "/_seen") {
        nlohmann::json out = nlohmann::json::array();
        for (const SeenRequest& seen : all()) out.push_back(described(seen));
        return FakeResponse::json(out);
      }
      if (request.method == "POST" && request.target == "/_behave") {
        queue(request.body);
        return FakeResponse::json({{"ok", true}});
      }
      if (request.method == "POST" && request.target == "/_reset") {
        forget();
        return FakeResponse::json({{"ok", true}});
      }
    } catch (const std::invalid_argument& error) {
      return FakeResponse::json({{"error", error.what()}}, 400);
    }
    return FakeResponse::json({{"error", "there are GET /_seen, POST /_behave, POST /_reset"}},
                              404);
  }

  void queue(const std::string& json) {
    Behaviour behaviour = Behaviour::parse(json);
    std::lock_guard lock(mutex);
    behaviours.push_back(std::move(behaviour));
  }

  void forget() {
    std::lock_guard lock(mutex);
    behaviours.clear();
    entries.clear();
  }

  std::vector<SeenRequest> all() {
    std::lock_guard lock(mutex);
    std::vector<SeenRequest> out;
    for (const auto& entry : entries) out.push_back(entry->request);
    return out;
  }

  const FakeOptions options;
  const Listener listener;
  std::mutex mutex;  // guards all members below
  std::condition_variable ended;
  bool closing = false;
  size_t accepted = 0;
  std::list<Behaviour> behaviours;
  std::vector<std::shared_ptr<Entry>> entries;
  std::list<Connection> open;
  std::thread acceptor;
};

FakeUpstream::FakeUpstream(FakeOptions options)
    : server_(std::make_unique<Server>(std::move(options))) {}

FakeUpstream::~FakeUpstream() = default;

std::string FakeUpstream::url() const { return server_->listener.url(); }

uint16_t FakeUpstream::port() const { return server_->listener.port(); }

void FakeUpstream::queue_behaviour(const std::string& json) { server_->queue(json); }

void FakeUpstream::reset() { server_->forget(); }

std::vector<SeenRequest> FakeUpstream::requests() const { return server_->all(); }

size_t FakeUpstream::connections() const {
  std::lock_guard lock(server_->mutex);
  return server_->accepted;
}

bool FakeUpstream::wait_for_requests(size_t count) const {
  std::unique_lock lock(server_->mutex);
  return server_->ended.wait_for(lock, std::chrono::seconds(5), [&] {
    const auto& entries = server_->entries;
    return static_cast<size_t>(std::count_if(entries.begin(), entries.end(), [](const auto& entry) {
             return entry->ended;
           })) >= count;
  });
}

}  // namespace stoka::testing
