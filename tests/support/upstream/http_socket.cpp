#include "support/upstream/http_socket.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>

namespace stoka::testing {
namespace {

constexpr size_t kMaxHead = 64u << 10;
constexpr size_t kMaxBody = 64u << 20;

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
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
  head.remove_prefix(std::min(end + 2, head.size()));
  while (!head.empty()) {
    const size_t line_end = std::min(head.find("\r\n"), head.size());
    const std::string_view line = head.substr(0, line_end);
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return false;
    out.headers[lower(line.substr(0, colon))] = trimmed(line.substr(colon + 1));
    head.remove_prefix(std::min(line_end + 2, head.size()));
  }
  return true;
}

}  // namespace

std::optional<FakeRequest> HttpSocket::read() {
  size_t end;
  while ((end = buffer_.find("\r\n\r\n")) == std::string::npos)
    if (buffer_.size() > kMaxHead || !receive()) return std::nullopt;
  FakeRequest out;
  if (!parse_head(std::string_view(buffer_).substr(0, end), out)) return std::nullopt;
  buffer_.erase(0, end + 4);
  const size_t length = std::strtoull(out.header("content-length").c_str(), nullptr, 10);
  if (length > kMaxBody || out.headers.contains("transfer-encoding")) return std::nullopt;
  if (lower(out.header("expect")) == "100-continue" && !send_all("HTTP/1.1 100 Continue\r\n\r\n"))
    return std::nullopt;
  while (buffer_.size() < length)
    if (!receive()) return std::nullopt;
  out.body = buffer_.substr(0, length);
  buffer_.erase(0, length);
  out.json = nlohmann::json::parse(out.body, nullptr, false);
  return out;
}

bool HttpSocket::receive() {
  char bytes[16384];
  ssize_t got;
  do got = ::recv(fd_, bytes, sizeof bytes, 0);
  while (got < 0 && errno == EINTR);
  if (got <= 0) return false;
  buffer_.append(bytes, static_cast<size_t>(got));
  return true;
}

void HttpSocket::pace(size_t piece, std::chrono::milliseconds pause) {
  piece_ = piece;
  pause_ = pause;
}

bool HttpSocket::send(std::string_view bytes) {
  while (!bytes.empty() && !disconnected_) {
    const std::string_view piece = bytes.substr(0, piece_ == 0 ? bytes.size() : piece_);
    if (!send_all(piece)) disconnected_ = true;
    bytes.remove_prefix(piece.size());
    if (piece_ != 0 && pause_.count() > 0) wait(pause_);
  }
  return !disconnected_;
}

bool HttpSocket::send_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
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
