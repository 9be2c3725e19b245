// Servers without an HTTP implementation.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace stoka::testing {

// Accepts connections and never sends anything.
class SilentServer {
 public:
  SilentServer() {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener_, generic, size) != 0 || ::listen(listener_, 8) != 0 ||
        ::getsockname(listener_, generic, &size) != 0)
      throw std::runtime_error("cannot listen");
    port_ = ntohs(address.sin_port);
  }
  ~SilentServer() { ::close(listener_); }
  SilentServer(const SilentServer&) = delete;
  SilentServer& operator=(const SilentServer&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

 protected:
  int listener_ = -1;

 private:
  uint16_t port_ = 0;
};

// Sends fixed bytes after the first request on each connection, then closes it.
class RawServer : public SilentServer {
 public:
  explicit RawServer(std::string answer) : answer_(std::move(answer)) {
    thread_ = std::jthread([this] { serve(); });
  }
  ~RawServer() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
  }

 private:
  void serve() {
    for (;;) {
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) return;
      std::string request;
      char bytes[4096];
      ssize_t got = 1;
      // A TLS handshake starts with 0x16 and does not end like a GET request.
      while (got > 0 && !request.ends_with("\r\n\r\n") && !request.starts_with('\x16')) {
        got = ::recv(fd, bytes, sizeof bytes, 0);
        if (got > 0) request.append(bytes, static_cast<size_t>(got));
      }
      for (size_t at = 0; at < answer_.size();) {
        const ssize_t sent = ::send(fd, answer_.data() + at, answer_.size() - at, MSG_NOSIGNAL);
        if (sent <= 0) break;
        at += static_cast<size_t>(sent);
      }
      ::close(fd);
    }
  }

  std::string answer_;
  std::jthread thread_;
};

}  // namespace stoka::testing
