#include "store/postgres_proxy.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

namespace stoka::store::postgres {
namespace {

sockaddr_in loopback(int port) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_port = htons(static_cast<uint16_t>(port));
  out.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return out;
}

std::string received(int socket) {
  char buffer[1 << 16];
  const ssize_t size = ::recv(socket, buffer, sizeof buffer, 0);
  return size > 0 ? std::string(buffer, static_cast<size_t>(size)) : std::string();
}

bool send_all(int socket, const std::string& bytes) {
  for (size_t at = 0; at < bytes.size();) {
    const ssize_t sent = ::send(socket, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    at += static_cast<size_t>(sent);
  }
  return true;
}

void close_socket(int& socket) {
  if (socket >= 0) ::close(socket);
  socket = -1;
}

}  // namespace

CommitProxy::CommitProxy(int server_port) : server_port_(server_port) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(listener_, 64) != 0 || ::pipe2(wake_, O_CLOEXEC) != 0 ||
      ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    throw std::runtime_error("no port for a proxy");
  port_ = ntohs(address.sin_port);
  thread_ = std::jthread([this] { serve(); });
}

CommitProxy::~CommitProxy() {
  ::close(wake_[1]);
  thread_.join();
  ::close(wake_[0]);
  ::close(listener_);
  for (Pair& pair : pairs_) {
    close_socket(pair.client);
    close_socket(pair.server);
  }
  for (int& socket : held_) close_socket(socket);
}

void CommitProxy::cut(Cut how, int times) {
  const std::lock_guard lock(mutex_);
  how_ = how;
  left_ = times;
}

void CommitProxy::serve() {
  for (;;) {
    std::vector<pollfd> polled = {{wake_[0], POLLIN, 0}, {listener_, POLLIN, 0}};
    for (const Pair& pair : pairs_) {
      polled.push_back({pair.client, POLLIN, 0});
      polled.push_back({pair.server, POLLIN, 0});
    }
    if (::poll(polled.data(), polled.size(), -1) < 0) continue;
    if (polled[0].revents != 0) return;
    for (size_t i = 0; i < pairs_.size(); ++i) {
      Pair& pair = pairs_[i];
      const bool alive = (polled[2 + 2 * i].revents == 0 || from_client(pair)) &&
                         (polled[3 + 2 * i].revents == 0 || from_server(pair));
      if (alive) continue;
      close_socket(pair.client);
      close_socket(pair.server);
    }
    std::erase_if(pairs_, [](const Pair& pair) { return pair.client < 0 && pair.server < 0; });
    if (polled[1].revents != 0) accept_one();
  }
}

void CommitProxy::accept_one() {
  Pair pair{::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC),
            ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), false};
  const sockaddr_in address = loopback(server_port_);
  if (!refuses_ &&
      ::connect(pair.server, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    pairs_.push_back(pair);
    return;
  }
  close_socket(pair.client);
  close_socket(pair.server);
}

bool CommitProxy::from_client(Pair& pair) {
  const std::string bytes = received(pair.client);
  if (bytes.empty()) return false;
  // A simple query message: type, length, text, NUL.
  if (bytes.find(std::string("Q\0\0\0\x0b"
                             "COMMIT\0",
                             12)) != bytes.npos) {
    const std::lock_guard lock(mutex_);
    if (left_ > 0) {
      --left_;
      const bool alive = cut_at_commit(pair, bytes);
      ++cuts_;
      return alive;
    }
  }
  const bool asks = bytes.find("pg_xact_status") != bytes.npos;
  if (!send_all(pair.server, bytes)) return false;
  if (asks) {
    const std::lock_guard lock(mutex_);
    if (how_ == Cut::held_until_queried && !held_.empty()) {
      const std::string answer = received(pair.server);  // "in progress"
      for (int& socket : held_) close_socket(socket);
      held_.clear();
      return send_all(pair.client, answer);
    }
  }
  return true;
}

bool CommitProxy::cut_at_commit(Pair& pair, const std::string& bytes) {
  switch (how_) {
    case Cut::after:
      pair.awaits_commit = true;
      return send_all(pair.server, bytes);
    case Cut::held_and_refusing:
      refuses_ = true;
      [[fallthrough]];
    case Cut::held:
    case Cut::held_until_queried:
      held_.push_back(pair.server);
      pair.server = -1;
      return false;
    default:
      return false;
  }
}

bool CommitProxy::from_server(Pair& pair) {
  const std::string bytes = received(pair.server);
  return !bytes.empty() && !pair.awaits_commit && send_all(pair.client, bytes);
}

}  // namespace stoka::store::postgres
