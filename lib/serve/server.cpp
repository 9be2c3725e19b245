#include "serve/server.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "serve/commit_queue.h"
#include "serve/request_context.h"
#include "serve/worker_pool.h"

namespace stoka::serve {
namespace {

constexpr std::chrono::milliseconds kTickInterval{500};
constexpr std::chrono::milliseconds kDescriptorRetry{100};  // pause if no descriptor is free
constexpr std::chrono::seconds kShutdownTimeout{2};         // time to send the last error events
constexpr int kBacklog = 1024;
constexpr int kMaxAccepted = 64;  // clients accepted in one round of the loop
constexpr size_t kQuickWorkers = 4;
// One client may have at most 1/kClientShare of all connections, unless it is a trusted proxy.
constexpr size_t kClientShare = 8;

struct Socket {
  explicit Socket(int given) : fd(given) {}
  Socket(Socket&& other) noexcept : fd(std::exchange(other.fd, -1)) {}
  Socket& operator=(Socket&&) = delete;
  ~Socket() {
    if (fd >= 0) ::close(fd);
  }
  int fd;
};

IpAddress address_of(const sockaddr_storage& from) {
  if (from.ss_family == AF_INET) {
    std::array<uint8_t, 4> bytes;
    std::memcpy(bytes.data(), &reinterpret_cast<const sockaddr_in&>(from).sin_addr, 4);
    return IpAddress(bytes);
  }
  std::array<uint8_t, 16> bytes{};
  if (from.ss_family == AF_INET6)
    std::memcpy(bytes.data(), &reinterpret_cast<const sockaddr_in6&>(from).sin6_addr, 16);
  return IpAddress(bytes);
}

bool is_loopback(const IpAddress& address) {
  static const NetworkSet loopback =
      *NetworkSet::parse(std::vector<std::string>{"127.0.0.0/8", "::1/128"});
  return loopback.contains(address);
}

Error cannot_listen(const std::string& host, uint16_t port, const std::string& why) {
  return {ErrorKind::config, fmt::format("cannot listen on {} port {}: {}", host, port, why),
          "choose others with --host and --port"};
}

uint16_t bound_port(int socket) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&bound), &size);
  return ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(bound).sin6_port
                                           : reinterpret_cast<sockaddr_in&>(bound).sin_port);
}

// Binds one socket for each address of the host, all to one port.
Result<std::vector<Socket>> bind_all(const std::string& host, uint16_t& port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int code = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (code != 0) return fail(cannot_listen(host, port, ::gai_strerror(code)));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> all(found, &::freeaddrinfo);
  std::vector<Socket> out;
  std::string why = "no address";
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    Socket socket(::socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int yes = 1;
    ::setsockopt(socket.fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    sockaddr_storage address{};
    std::memcpy(&address, at->ai_addr, at->ai_addrlen);
    if (at->ai_family == AF_INET6) {
      ::setsockopt(socket.fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
      reinterpret_cast<sockaddr_in6&>(address).sin6_port = htons(port);
    } else {
      reinterpret_cast<sockaddr_in&>(address).sin_port = htons(port);
    }
    if (socket.fd < 0 ||
        ::bind(socket.fd, reinterpret_cast<const sockaddr*>(&address), at->ai_addrlen) != 0 ||
        ::listen(socket.fd, kBacklog) != 0) {
      why = std::strerror(errno);
      continue;
    }
    if (port == 0) port = bound_port(socket.fd);
    out.push_back(std::move(socket));
  }
  if (out.empty()) return fail(cannot_listen(host, port, why));
  return out;
}

}  // namespace

struct Server::Impl {
  Impl(pipeline::Engine& engine, AccessLog& given, Metrics& measured, ServerOptions given_options,
       std::vector<Socket> bound)
      : options(std::move(given_options)),
        log(given),
        metrics(measured),
        context{engine, loop, quick, slow, commits, metrics, log, options.ping_interval},
        sockets(std::move(bound)),
        site(context, options.site),
        commits(engine.parts().sessions),
        quick(kQuickWorkers, options.max_connections),
        slow(options.workers, options.max_connections) {
    for (const Socket& socket : sockets)
      listening.push_back(
          loop.watch(socket.fd, [this, fd = socket.fd](net::EventLoop::Readiness) { accept(fd); }));
    metrics.add_gauge(
        "stoka_waiting", {{"queue", "quick"}}, [this] { return count(quick.waiting()); },
        "Jobs that wait for a thread, and turns that wait to be stored.");
    metrics.add_gauge("stoka_waiting", {{"queue", "slow"}},
                      [this] { return count(slow.waiting()); });
    metrics.add_gauge("stoka_waiting", {{"queue", "commit"}},
                      [this] { return count(commits.waiting()); });
    set_accepting(true);
    tick();
  }

  static double count(size_t n) { return static_cast<double>(n); }

  void set_accepting(bool more) {
    accepting = more;
    for (net::EventLoop::Watch& watch : listening) watch.set_interest(more, false);
  }

  void accept(int listener) {
    for (int i = 0; i < kMaxAccepted && accepting; ++i) {
      if (connections.size() >= options.max_connections) {
        // In the first iteration the listener is readable, so a client is certain to wait.
        if (i == 0 && !close_longest_idle()) set_accepting(false);
        return;
      }
      sockaddr_storage from{};
      socklen_t size = sizeof from;
      Socket socket(::accept4(listener, reinterpret_cast<sockaddr*>(&from), &size,
                              SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (socket.fd < 0) {
        if (errno == EINTR || errno == ECONNABORTED) continue;
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
          pause_accepting();
        return;
      }
      add_connection(std::move(socket), address_of(from));
    }
  }

  // Makes room for a waiting client: closes the idle connection that has been idle longest. Returns
  // false if no connection is idle.
  bool close_longest_idle() {
    Connection* longest = nullptr;
    for_each_connection([&](Connection& connection) {
      const bool earlier =
          longest == nullptr || connection.waiting_since() < longest->waiting_since();
      if (connection.is_idle() && earlier) longest = &connection;
    });
    if (longest == nullptr) return false;
    longest->abandon();
    return true;
  }

  void pause_accepting() {
    if (!std::exchange(warned_of_descriptors, true))
      log.warning("no file descriptors left for clients; raise the limit (ulimit -n)");
    set_accepting(false);
    resume = loop.after(kDescriptorRetry, [this] { set_accepting(!closing); });
  }

  void add_connection(Socket socket, const IpAddress& peer) {
    const bool counted = !is_loopback(peer) && !options.site.trusted_proxies.contains(peer);
    const std::string key = counted ? rate_key(peer) : "";
    if (counted &&
        connections_of[key] >= std::max<size_t>(options.max_connections / kClientShare, 8))
      return;
    if (counted) ++connections_of[key];
    const uint64_t id = ++last_id;
    const int fd = std::exchange(socket.fd, -1);
    connections.emplace(
        id, std::make_unique<Connection>(loop, fd, peer, site, options.limits,
                                         [this, id, key] { remove_connection(id, key); }));
    metrics.connections.add(1);
  }

  void remove_connection(uint64_t id, const std::string& key) {
    connections.erase(id);
    metrics.connections.add(-1);
    if (!key.empty() && --connections_of[key] == 0) connections_of.erase(key);
    if (!accepting && !closing && connections.size() < options.max_connections) set_accepting(true);
  }

  void tick() {
    const auto now = std::chrono::steady_clock::now();
    bool any_idle = false;
    for (const auto& [id, connection] : connections) {
      connection->tick(now);
      any_idle = any_idle || connection->is_idle();
    }
    if (any_idle && !accepting && !closing) set_accepting(true);
    ticking = loop.after(kTickInterval, [this] { tick(); });
  }

  // The function `f` may close connections: these are removed in a later round of the loop.
  template <class F>
  void for_each_connection(F f) {
    for (const auto& [id, connection] : connections) f(*connection);
  }

  void close() {
    if (std::exchange(closing, true)) return abandon();
    log.info(fmt::format("stopping: {} connections open", connections.size()));
    site.close();
    resume.cancel();
    set_accepting(false);
    listening.clear();
    sockets.clear();
    for_each_connection([](Connection& connection) { connection.finish(); });
    ending = loop.after(options.shutdown_grace, [this] {
      for_each_connection([](Connection& connection) { connection.shut_down(); });
      ending = loop.after(kShutdownTimeout, [this] { abandon(); });
    });
  }

  void abandon() {
    abandoned = true;
    for_each_connection([](Connection& connection) { connection.abandon(); });
  }

  bool over() const { return closing && (connections.empty() || abandoned); }

  const ServerOptions options;
  AccessLog& log;
  Metrics& metrics;
  ServerContext context;  // refers to the members declared below
  net::EventLoop loop;    // declared before everything that uses the loop
  std::vector<Socket> sockets;
  std::vector<net::EventLoop::Watch> listening;
  net::EventLoop::Timer resume, ticking, ending;
  Site site;
  std::unordered_map<uint64_t, std::unique_ptr<Connection>> connections;
  std::map<std::string, size_t> connections_of;
  uint64_t last_id = 0;
  bool accepting = false;
  bool closing = false;
  bool abandoned = false;
  bool warned_of_descriptors = false;
  CommitQueue commits;
  // Declared last, so that its jobs end before anything else is destroyed.
  WorkerPool quick;
  WorkerPool slow;
};

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::listen(pipeline::Engine& engine, AccessLog& log,
                                               Metrics& metrics, ServerOptions options) {
  STOKA_ASSIGN(std::vector<Socket> sockets, bind_all(options.host, options.port));
  return std::unique_ptr<Server>(new Server(
      std::make_unique<Impl>(engine, log, metrics, std::move(options), std::move(sockets))));
}

uint16_t Server::port() const { return impl_->options.port; }

std::string Server::url() const {
  const std::string& host = impl_->options.host;
  const bool v6 = host.find(':') != std::string::npos;
  return v6 ? fmt::format("http://[{}]:{}", host, port())
            : fmt::format("http://{}:{}", host, port());
}

void Server::run() {
  impl_->loop.run_until([this] { return impl_->over(); }, {});
}

void Server::stop() {
  impl_->loop.post([this] { impl_->close(); });
}

}  // namespace stoka::serve
