// The sockets and threads of the fake server, and its record of requests.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <list>
#include <mutex>
#include <stdexcept>
#include <thread>

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
  int fd = -1;
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
  explicit Server(FakeOptions given) : options(std::move(given)) {
    Behaviour::parse(nlohmann::json({{"dialect", options.dialect}}).dump());
    listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int yes = 1;
    ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(options.port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener, generic, size) != 0 || ::listen(listener, 128) != 0 ||
        ::getsockname(listener, generic, &size) != 0) {
      const std::string why = std::strerror(errno);
      ::close(listener);
      throw std::runtime_error(fmt::format("cannot listen on port {}: {}", options.port, why));
    }
    port = ntohs(address.sin_port);
    acceptor = std::thread([this] { accept_all(); });
  }

  ~Server() {
    {
      std::lock_guard lock(mutex);
      closing = true;
      for (Connection& connection : open)
        if (connection.fd >= 0) ::shutdown(connection.fd, SHUT_RDWR);
    }
    ::shutdown(listener, SHUT_RDWR);
    acceptor.join();
    ::close(listener);
    for (Connection& connection : open) connection.thread.join();
  }

  void accept_all() {
    for (;;) {
      const int fd = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0 && (errno == EINTR || errno == ECONNABORTED)) continue;
      if (fd < 0) return;
      const int yes = 1;
      ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
      std::lock_guard lock(mutex);
      if (closing) {
        ::close(fd);
        return;
      }
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
      connection.fd = fd;
      connection.thread = std::thread([this, &connection] { serve(connection); });
    }
  }

  void serve(Connection& connection) {
    int fd;
    {
      std::lock_guard lock(mutex);
      fd = connection.fd;
    }
    HttpSocket socket(fd);
    while (auto request = socket.read())
      if (!handle(socket, *request)) break;
    std::lock_guard lock(mutex);
    ::close(fd);
    connection.fd = -1;
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
  int listener = -1;
  uint16_t port = 0;
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

std::string FakeUpstream::url() const { return fmt::format("http://127.0.0.1:{}", server_->port); }

uint16_t FakeUpstream::port() const { return server_->port; }

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
