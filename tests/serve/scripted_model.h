// A model server whose every token is sent by the test.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "support/json.h"

namespace stoka::test {

class ScriptedModel {
 public:
  // A request for a chat completion, and its response.
  class Request {
   public:
    Request(Request&& other) noexcept
        : body(std::move(other.body)), fd_(std::exchange(other.fd_, -1)) {}
    ~Request() { close(); }

    void send_head() {
      send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n");
    }
    void send_text(const std::string& text) {
      const nlohmann::json chunk = {{"choices", {{{"index", 0}, {"delta", {{"content", text}}}}}}};
      send("data: " + chunk.dump() + "\n\n");
    }
    void finish() {
      send(
          "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
          "data: [DONE]\n\n");
      close();
    }
    // Whether the client disconnects within 20 seconds.
    bool client_disconnected() const {
      pollfd peer{fd_, POLLRDHUP, 0};
      return ::poll(&peer, 1, 20000) > 0;
    }
    void close() {
      if (fd_ >= 0) ::close(std::exchange(fd_, -1));
    }

    std::string body;  // of the request

   private:
    friend class ScriptedModel;
    explicit Request(int fd) : fd_(fd) {}
    void send(std::string_view bytes) {
      if (::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) !=
          static_cast<ssize_t>(bytes.size()))
        throw std::runtime_error("the client has disconnected");
    }
    int fd_;
  };

  ScriptedModel() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener_, generic, size) != 0 || ::listen(listener_, 64) != 0 ||
        ::getsockname(listener_, generic, &size) != 0)
      throw std::runtime_error("cannot listen");
    port_ = ntohs(address.sin_port);
  }
  ~ScriptedModel() { ::close(listener_); }
  ScriptedModel(const ScriptedModel&) = delete;
  ScriptedModel& operator=(const ScriptedModel&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

  // Whether a request arrives within that time.
  bool has_request(int milliseconds) const {
    pollfd waiting{listener_, POLLIN, 0};
    return ::poll(&waiting, 1, milliseconds) > 0;
  }

  // Waits for the next request and reads it.
  Request next() {
    if (!has_request(20000)) throw std::runtime_error("no request to the model");
    Request out(::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC));
    const timeval timeout{20, 0};
    ::setsockopt(out.fd_, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    std::string all;
    size_t end = 0, length = 0;
    while (end == 0 || all.size() < end + length) {
      char bytes[16384];
      const ssize_t got = ::recv(out.fd_, bytes, sizeof bytes, 0);
      if (got <= 0) throw std::runtime_error("the request is incomplete");
      all.append(bytes, static_cast<size_t>(got));
      const size_t blank = all.find("\r\n\r\n"), named = all.find("Content-Length: ");
      if (end > 0 || blank == std::string::npos || named == std::string::npos) continue;
      end = blank + 4;
      length = std::stoul(all.substr(named + 16));
    }
    out.body = all.substr(end);
    return out;
  }

 private:
  int listener_;
  uint16_t port_ = 0;
};

}  // namespace stoka::test
