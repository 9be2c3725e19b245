#include "support/upstream/http_socket.h"

#include <poll.h>
#include <strings.h>
#include <sys/socket.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "support/http.h"
#include "support/sockets.h"

namespace stoka::testing {
namespace {

constexpr size_t kMaxHead = 64u << 10;
constexpr size_t kMaxBody = 64u << 20;

// Whether the bytes are the start of a request, and not of a TLS handshake or the like.
bool may_be_http(std::string_view bytes) {
  return bytes.empty() || std::isalpha(static_cast<unsigned char>(bytes.front()));
}

// Parses the request line and the headers.
bool parse_head(std::string_view head, FakeRequest& out) {
  const size_t end = std::min(head.find("\r\n"), head.size());
  const std::string_view first = head.substr(0, end);
  const size_t space = first.find(' '), last = first.rfind(" HTTP/1.");
  if (space == std::string_view::npos || last == std::string_view::npos || last <= space)
    return false;
  out.method = first.substr(0, space);
  out.target = first.substr(space + 1, last - space - 1);
  const auto headers = parse_headers(head.substr(std::min(end + 2, head.size())));
  if (!headers) return false;
  for (const auto& [name, value] : *headers) out.headers[name] = value;
  return true;
}

}  // namespace

std::optional<FakeRequest> HttpSocket::read() {
  size_t end;
  while ((end = buffer_.find("\r\n\r\n")) == std::string::npos)
    if (buffer_.size() > kMaxHead || !may_be_http(buffer_) || !receive()) return std::nullopt;
  FakeRequest out;
  if (!parse_head(std::string_view(buffer_).substr(0, end), out)) return std::nullopt;
  buffer_.erase(0, end + 4);
  const size_t length = std::strtoull(out.header("content-length").c_str(), nullptr, 10);
  if (length > kMaxBody || out.headers.contains("transfer-encoding")) return std::nullopt;
  if (::strcasecmp(out.header("expect").c_str(), "100-continue") == 0 &&
      !send_all(fd_, "HTTP/1.1 100 Continue\r\n\r\n"))
    return std::nullopt;
  while (buffer_.size() < length)
    if (!receive()) return std::nullopt;
  out.body = buffer_.substr(0, length);
  buffer_.erase(0, length);
  out.json = nlohmann::json::parse(out.body, nullptr, false);
  return out;
}

bool HttpSocket::receive() { return testing::receive(fd_, buffer_) == Received::bytes; }

void HttpSocket::pace(size_t piece, std::chrono::milliseconds pause) {
  piece_ = piece;
  pause_ = pause;
}

bool HttpSocket::send(std::string_view bytes) {
  while (!bytes.empty() && !disconnected_) {
    const std::string_view piece = bytes.substr(0, piece_ == 0 ? bytes.size() : piece_);
    if (!send_all(fd_, piece)) disconnected_ = true;
    bytes.remove_prefix(piece.size());
    if (piece_ != 0 && pause_.count() > 0) wait(pause_);
  }
  return !disconnected_;
}

bool HttpSocket::wait(std::chrono::milliseconds time) {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + time;
  while (!disconnected_) {
    const auto rest = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    if (rest <= 0) return true;
    pollfd peer{fd_, POLLRDHUP, 0};
    const int step = static_cast<int>(std::min<long long>(rest, 60000));
    if (::poll(&peer, 1, step) > 0) disconnected_ = true;
  }
  return false;
}

void HttpSocket::wait_for_disconnect() {
  while (wait(std::chrono::hours(1))) {
  }
}

void HttpSocket::reset_on_close() {
  const linger now{1, 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
}

}  // namespace stoka::testing
