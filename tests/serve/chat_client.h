// A chat client on one connection: sends raw HTTP, and reads responses and their events.
#pragma once

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "support/json.h"

namespace stoka::test {

using Json = nlohmann::json;

struct SentEvent {
  std::string name;
  Json data;
};

// All functions throw if nothing arrives within 20 seconds, or if it is malformed.
class ChatClient {
 public:
  // `receive_buffer` is the size of the socket's receive buffer; 0 means the system's default.
  explicit ChatClient(uint16_t port, int receive_buffer = 0)
      : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (receive_buffer > 0)
      ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    const timeval timeout{20, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
      throw std::runtime_error("no connection");
  }
  ChatClient(ChatClient&& other) noexcept
      : status(other.status),
        headers(std::move(other.headers)),
        raw(std::move(other.raw)),
        pings(other.pings),
        fd_(std::exchange(other.fd_, -1)),
        received_(std::move(other.received_)),
        read_(other.read_),
        ended_(other.ended_) {}
  ~ChatClient() { disconnect(); }

  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) throw std::runtime_error("the server has closed the connection");
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
  }

  void ask(const Json& body, std::string_view version = "1.1") {
    const std::string text = body.dump();
    send(
        fmt::format("POST /api/stoka/chat HTTP/{}\r\nHost: x\r\nContent-Type: application/json\r\n"
                    "Content-Length: {}\r\n\r\n{}",
                    version, text.size(), text));
  }

  void disconnect() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

  // Reads the head of the next response, but not its body.
  void read_head() {
    size_t end;
    while ((end = received_.find("\r\n\r\n")) == std::string::npos) must_receive();
    const std::string head = received_.substr(0, end + 2);
    received_.erase(0, end + 4);
    if (!head.starts_with("HTTP/1.1 ")) throw std::runtime_error("no HTTP: " + head);
    status = std::stoi(head.substr(9, 3));
    headers.clear();
    for (size_t at = head.find("\r\n") + 2; at < head.size();) {
      const size_t line_end = head.find("\r\n", at), colon = head.find(": ", at);
      headers[to_lower(head.substr(at, colon - at))] = head.substr(colon + 2, line_end - colon - 2);
      at = line_end + 2;
    }
    raw.clear();
    read_ = 0;
    ended_ = false;
  }

  // Reads the body of a response that is not a stream.
  std::string body() {
    const size_t length = std::stoul(headers.at("content-length"));
    while (received_.size() < length) must_receive();
    std::string out = received_.substr(0, length);
    received_.erase(0, length);
    return out;
  }

  // Waits for the next event; nullopt at the end of the stream.
  std::optional<SentEvent> event() {
    for (;;) {
      if (const size_t end = raw.find("\n\n", read_); end != std::string::npos) {
        const std::string block = raw.substr(read_, end - read_);
        read_ = end + 2;
        if (block != ":") return parsed(block);
        ++pings;
        continue;
      }
      if (ended_) {
        if (read_ != raw.size()) throw std::runtime_error("half an event: " + raw.substr(read_));
        return std::nullopt;
      }
      more();
    }
  }

  // Waits for a comment, before which there must be no event.
  void wait_for_ping() {
    while (raw.find(":\n\n", read_) == std::string::npos) more();
  }

  // Whether the server closes the connection without sending more.
  bool closed() { return received_.empty() && !receive(); }

  int status = 0;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string raw;                             // the bytes of the stream, without chunk framing
  size_t pings = 0;

 private:
  static SentEvent parsed(const std::string& block) {
    const size_t line = block.find('\n');
    const bool well = line != std::string::npos && block.starts_with("event: ") &&
                      block.compare(line + 1, 6, "data: ") == 0 &&
                      block.find('\n', line + 1) == std::string::npos;
    if (!well) throw std::runtime_error("no event: " + block);
    return {block.substr(7, line - 7), Json::parse(block.substr(line + 7))};
  }

  // Reads another chunk, or the end.
  void more() {
    if (headers["transfer-encoding"] != "chunked") {
      if (received_.empty() && !receive()) ended_ = true;
      raw += std::exchange(received_, {});
      return;
    }
    size_t line;
    while ((line = received_.find("\r\n")) == std::string::npos) must_receive();
    const size_t size = std::stoul(received_.substr(0, line), nullptr, 16);
    while (received_.size() < line + 2 + size + 2) must_receive();
    raw += received_.substr(line + 2, size);
    received_.erase(0, line + 2 + size + 2);
    ended_ = size == 0;
  }

  bool receive() {
    char bytes[16384];
    const ssize_t got = ::recv(fd_, bytes, sizeof bytes, 0);
    if (got < 0 && errno == ECONNRESET) return false;
    if (got < 0) throw std::runtime_error("the server says nothing");
    received_.append(bytes, static_cast<size_t>(got));
    return got > 0;
  }

  void must_receive() {
    if (!receive()) throw std::runtime_error("the server hung up: " + received_);
  }

  int fd_;
  std::string received_;
  size_t read_ = 0;  // of raw
  bool ended_ = false;
};

// A complete reply.
struct ChatReply {
  int status = 0;
  std::map<std::string, std::string> headers;
  std::vector<SentEvent> events;
  std::string raw;
  Json problem;

  std::string text() const {
    std::string out;
    for (const SentEvent& event : events)
      if (event.name == "token") out += event.data["text"].get<std::string>();
    return out;
  }
  std::vector<std::string> cited() const {
    std::vector<std::string> out;
    for (const SentEvent& event : events)
      if (event.name == "cite") out.push_back(event.data["slug"].get<std::string>());
    return out;
  }
  const SentEvent& last() const { return events.back(); }
  // Whether ready comes first, and exactly one done or error, which comes last.
  bool well_formed() const {
    size_t ready = 0, ends = 0;
    for (const SentEvent& event : events) {
      ready += event.name == "ready";
      ends += event.name == "done" || event.name == "error";
    }
    return ready == 1 && ends == 1 && events.front().name == "ready" &&
           (last().name == "done" || last().name == "error");
  }
};

inline ChatReply read_reply(ChatClient& client) {
  client.read_head();
  ChatReply out;
  out.status = client.status;
  out.headers = client.headers;
  if (client.headers["content-type"] == "text/event-stream") {
    while (auto event = client.event()) out.events.push_back(std::move(*event));
    out.raw = client.raw;
  } else {
    const std::string body = client.body();
    if (client.headers["content-type"] == "application/problem+json")
      out.problem = Json::parse(body);
  }
  return out;
}

}  // namespace stoka::test
