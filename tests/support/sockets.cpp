#include "support/sockets.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace stoka::testing {
namespace {

sockaddr_in loopback(int port) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_port = htons(static_cast<uint16_t>(port));
  out.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return out;
}

Descriptor make_socket() { return Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

}  // namespace

void Descriptor::close() {
  if (const int fd = std::exchange(fd_, -1); fd >= 0) ::close(fd);
}

Listener::Listener(uint16_t port) : socket_(make_socket()) {
  const int yes = 1;
  ::setsockopt(fd(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address = loopback(port);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(fd(), generic, size) != 0 || ::listen(fd(), 128) != 0 ||
      ::getsockname(fd(), generic, &size) != 0)
    throw std::runtime_error("cannot listen on port " + std::to_string(port) + ": " +
                             std::strerror(errno));
  port_ = ntohs(address.sin_port);
}

std::string Listener::url() const { return "http://127.0.0.1:" + std::to_string(port_); }

Descriptor Listener::accept() const {
  for (;;) {
    const int accepted = ::accept4(fd(), nullptr, nullptr, SOCK_CLOEXEC);
    if (accepted >= 0 || (errno != EINTR && errno != ECONNABORTED)) return Descriptor(accepted);
  }
}

void Listener::shut_down() const { ::shutdown(fd(), SHUT_RDWR); }

Descriptor connect_to(int port, int receive_buffer) {
  Descriptor out = make_socket();
  if (receive_buffer > 0)
    ::setsockopt(out.get(), SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
  const sockaddr_in address = loopback(port);
  if (::connect(out.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    out.close();
  return out;
}

void set_timeout(const Descriptor& socket, std::chrono::milliseconds timeout) {
  const timeval limit{timeout.count() / 1000, timeout.count() % 1000 * 1000};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

bool send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

Received receive(int socket, std::string& bytes) {
  char buffer[16384];
  ssize_t got;
  do got = ::recv(socket, buffer, sizeof buffer, 0);
  while (got < 0 && errno == EINTR);
  if (got > 0) bytes.append(buffer, static_cast<size_t>(got));
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Received::timeout;
  return got > 0 ? Received::bytes : Received::end;
}

bool wait_until_readable(int socket, std::chrono::milliseconds time) {
  pollfd waiting{socket, POLLIN, 0};
  return ::poll(&waiting, 1, static_cast<int>(time.count())) > 0;
}

}  // namespace stoka::testing
