#include "support/http.h"

#include <sys/socket.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include "support/json.h"

namespace stoka::testing {
namespace {

constexpr std::chrono::seconds kTimeout{20};

std::string_view without_blanks(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

ReplyEvent parse_event(std::string_view block) {
  const size_t line = block.find('\n');
  const bool well_formed = line != std::string_view::npos && block.starts_with("event: ") &&
                           block.substr(line + 1).starts_with("data: ") &&
                           block.find('\n', line + 1) == std::string_view::npos;
  if (!well_formed) throw std::runtime_error("no event: " + std::string(block));
  return {std::string(block.substr(7, line - 7)), std::string(block.substr(line + 7))};
}

// Takes the next event from the stream and counts the comments before it; nullopt if the rest holds
// no whole event.
std::optional<ReplyEvent> next_event(std::string_view stream, size_t& at, size_t& comments) {
  for (;;) {
    const size_t end = stream.find("\n\n", at);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view block = stream.substr(at, end - at);
    at = end + 2;
    if (block != ":") return parse_event(block);
    ++comments;
  }
}

void must_be_read(std::string_view stream, size_t at) {
  if (at < stream.size())
    throw std::runtime_error("half an event: " + std::string(stream.substr(at)));
}

}  // namespace

std::optional<HttpHeaders> parse_headers(std::string_view lines) {
  HttpHeaders out;
  while (!lines.empty()) {
    const size_t end = std::min(lines.find("\r\n"), lines.size());
    const std::string_view line = lines.substr(0, end);
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    auto& [name, value] = out.emplace_back(line.substr(0, colon), "");
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    value = without_blanks(line.substr(colon + 1));
    lines.remove_prefix(std::min(end + 2, lines.size()));
  }
  return out;
}

nlohmann::json ReplyEvent::json() const { return nlohmann::json::parse(data); }

std::vector<ReplyEvent> parse_events(std::string_view stream) {
  std::vector<ReplyEvent> out;
  size_t at = 0, comments = 0;
  while (auto event = next_event(stream, at, comments)) out.push_back(std::move(*event));
  must_be_read(stream, at);
  return out;
}

std::string HttpReply::header(std::string_view name) const {
  for (const auto& [key, value] : headers)
    if (key == name) return value;
  return {};
}

nlohmann::json HttpReply::json() const { return nlohmann::json::parse(body, nullptr, false); }

nlohmann::json HttpReply::event(std::string_view name) const {
  for (const ReplyEvent& event : parse_events(body))
    if (event.name == name) return event.json();
  return {};
}

HttpConnection::HttpConnection(uint16_t port, int receive_buffer)
    : socket_(connect_to(port, receive_buffer)) {
  set_timeout(socket_, kTimeout);
}

void HttpConnection::finish() { ::shutdown(socket_.get(), SHUT_WR); }

bool HttpConnection::send(std::string_view bytes) { return send_all(socket_.get(), bytes); }

HttpReply HttpConnection::ask(std::string_view request) {
  send(request);
  return reply();
}

HttpReply HttpConnection::reply(bool head_only) {
  HttpReply out = read_head();
  if (head_only || out.status < 200 || out.status == 204 || out.status == 304) return out;
  while (!ended_) read_body();
  out.body = std::exchange(body_, {});
  return out;
}

HttpReply HttpConnection::read_head() {
  size_t end;
  while ((end = received_.find("\r\n\r\n")) == std::string::npos) must_receive();
  const std::string head = take(end + 4);
  const size_t line_end = head.find("\r\n") + 2;
  auto headers = parse_headers(std::string_view(head).substr(line_end, head.size() - line_end - 2));
  if (!head.starts_with("HTTP/1.1 ") || !headers) throw std::runtime_error("no HTTP: " + head);
  HttpReply out{std::stoi(head.substr(9, 3)), std::move(*headers)};
  chunked_ = out.header("transfer-encoding") == "chunked";
  length_.reset();
  if (const std::string length = out.header("content-length"); !length.empty())
    length_ = std::stoul(length);
  body_.clear();
  next_ = 0;
  ended_ = false;
  return out;
}

std::optional<ReplyEvent> HttpConnection::event() {
  for (;;) {
    if (auto event = next_event(body_, next_, pings_)) return event;
    if (ended_) {
      must_be_read(body_, next_);
      return std::nullopt;
    }
    read_body();
  }
}

void HttpConnection::wait_for_ping() {
  while (body_.find(":\n\n", next_) == std::string::npos) {
    if (ended_) throw std::runtime_error("the stream has ended");
    read_body();
  }
}

bool HttpConnection::receives(std::string_view text) {
  while (received_.find(text) == std::string::npos)
    if (!receive()) return false;
  return true;
}

std::string HttpConnection::rest() {
  while (receive()) {
  }
  return std::exchange(received_, {});
}

bool HttpConnection::receive() {
  const Received got = testing::receive(socket_.get(), received_);
  if (got == Received::timeout) throw std::runtime_error("the server sends nothing");
  return got == Received::bytes;
}

void HttpConnection::must_receive() {
  if (!receive()) throw std::runtime_error("the server has disconnected after: " + received_);
}

std::string HttpConnection::take(size_t count) {
  while (received_.size() < count) must_receive();
  std::string out = received_.substr(0, count);
  received_.erase(0, count);
  return out;
}

void HttpConnection::read_body() {
  if (chunked_) {
    size_t line;
    while ((line = received_.find("\r\n")) == std::string::npos) must_receive();
    const size_t size = std::stoul(take(line + 2), nullptr, 16);
    body_ += take(size);
    take(2);
    ended_ = size == 0;
  } else if (length_) {
    body_ += take(*length_);
    ended_ = true;
  } else {
    if (received_.empty() && !receive()) ended_ = true;
    body_ += std::exchange(received_, {});
  }
}

}  // namespace stoka::testing
