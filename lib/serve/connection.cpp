#include "serve/connection.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <iterator>
#include <utility>

namespace stoka::serve {
namespace {

// After the last answer the client may still be sending: closed at once, it would never read it.
constexpr std::chrono::seconds kLingering{2};
constexpr size_t kMostLingering = 1u << 20;
constexpr size_t kMostAtOnce = 256u << 10;  // received in one round, so that others get theirs
constexpr size_t kMostUnread = 64u << 10;   // of answers, before the next request is answered

void set(int socket, int level, int name, int value) {
  ::setsockopt(socket, level, name, &value, sizeof value);
}

}  // namespace

Connection::Connection(net::Loop& loop, int socket, Address peer, Handler& handler,
                       const ConnectionLimits& limits, std::function<void()> closed)
    : loop_(loop),
      socket_(socket),
      peer_(std::move(peer)),
      handler_(handler),
      limits_(limits),
      closed_(std::move(closed)),
      self_(std::make_shared<Connection*>(this)),
      reader_(limits.request),
      waiting_since_(std::chrono::steady_clock::now()),
      took_(waiting_since_) {
  set(socket_, IPPROTO_TCP, TCP_NODELAY, 1);
  set(socket_, SOL_SOCKET, SO_KEEPALIVE, 1);
  watch_ = loop_.watch(socket_, [this](net::Loop::Ready what) { ready(what); });
  want();
}

Connection::~Connection() {
  watch_.cancel();
  ::close(socket_);
}

// Who does not read its answers is not heard either.
bool Connection::behind() const {
  using State = RequestReader::State;
  return !busy_ && !closing_ &&
         (reader_.state() == State::complete || reader_.state() == State::refused);
}

void Connection::want() { watch_.want(!behind() || !blocked_, blocked_); }

void Connection::ready(net::Loop::Ready what) {
  if (what.readable) receive();
  if (what.writable && !over_) flush();
}

void Connection::receive() {
  std::array<char, 16384> bytes;
  for (size_t total = 0; total < kMostAtOnce && !over_ && !behind();) {
    const ssize_t got = ::recv(socket_, bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (got <= 0) {
      if (!busy_) flush();  // it may still read what was said
      return lose();
    }
    const std::string_view received(bytes.data(), static_cast<size_t>(got));
    total += received.size();
    if (closing_) {
      lingered_ += received.size();
      if (lingered_ > kMostLingering) return close();
    } else if (busy_) {
      received_ += received;
      if (received_.size() > limits_.pipelined) return lose();
    } else {
      hear(received);
    }
    if (received.size() < bytes.size()) return;
  }
}

void Connection::hear(std::string_view bytes) {
  const auto before = reader_.state();
  const auto after = reader_.push(bytes);
  if (after != before) waiting_since_ = std::chrono::steady_clock::now();
  serve_next();
}

void Connection::serve_next() {
  using State = RequestReader::State;
  while (!busy_ && !over_ && !closing_ && backlog() <= kMostUnread) {
    if (reader_.expects_continue()) {
      out_ += "HTTP/1.1 100 Continue\r\n\r\n";
      schedule_flush();
    }
    if (reader_.state() == State::refused) {
      const RequestReader::Refusal& refusal = reader_.refusal();
      return turn_away(refusal.status, refusal.why, refusal.hint);
    }
    if (reader_.state() != State::complete) break;
    Request request = reader_.take();
    busy_ = true;
    head_only_ = request.method == "HEAD";
    chunked_ = request.minor > 0;
    keep_alive_ = request.keep_alive;
    auto pending = handler_.handle(std::move(request), *this);
    if (busy_) pending_ = std::move(pending);
  }
  if (finishing_ && !busy_ && !closing_ && reader_.state() == State::idle) {
    closing_ = true;
    schedule_flush();
  }
  if (blocked_ && !over_) want();
}

void Connection::turn_away(int status, std::string_view why, std::string_view hint) {
  busy_ = true;
  head_only_ = false;
  keep_alive_ = false;
  respond(handler_.refuse(reader_.head(), status, why, hint));
}

void Connection::respond(Response response) {
  const bool keep = keep_alive_ && !response.close && !finishing_;
  out_ += response_head(response, Framing::sized, response.body.size(), keep);
  if (!head_only_) out_ += response.body;
  answered(keep);
}

void Connection::begin_stream(Response head) {
  keep_alive_ = keep_alive_ && chunked_ && !finishing_;
  out_ += response_head(head, chunked_ ? Framing::chunked : Framing::until_close, 0, keep_alive_);
  schedule_flush();
}

void Connection::send(std::string_view bytes) {
  chunk_ += bytes;
  schedule_flush();
}

void Connection::frame() {
  if (chunk_.empty()) return;
  if (chunked_) fmt::format_to(std::back_inserter(out_), "{:x}\r\n", chunk_.size());
  out_ += chunk_;
  if (chunked_) out_ += "\r\n";
  chunk_.clear();
}

void Connection::end(bool close) {
  frame();
  if (chunked_) out_ += "0\r\n\r\n";
  answered(keep_alive_ && !close);
}

void Connection::answered(bool keep) {
  busy_ = false;
  closing_ = !keep;
  waiting_since_ = std::chrono::steady_clock::now();
  // Before anything that is received from now on.
  if (!received_.empty() && keep) reader_.push(std::exchange(received_, {}));
  // Whoever answers may be in the middle of something.
  if (pending_) loop_.soon([pending = std::move(pending_)] {});
  schedule_flush();
}

void Connection::schedule_flush() {
  if (std::exchange(flush_scheduled_, true)) return;
  loop_.soon([self = std::weak_ptr(self_)] {
    if (const auto alive = self.lock()) (*alive)->flush();
  });
}

void Connection::flush() {
  flush_scheduled_ = false;
  if (over_) return;
  frame();
  while (written_ < out_.size()) {
    const ssize_t sent =
        ::send(socket_, out_.data() + written_, out_.size() - written_, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      if (written_ > kMostUnread) {
        out_.erase(0, written_);
        written_ = 0;
      }
      if (!std::exchange(blocked_, true)) {
        took_ = std::chrono::steady_clock::now();
        want();
      }
      return;
    }
    if (sent < 0) return lose();
    written_ += static_cast<size_t>(sent);
    if (blocked_) took_ = std::chrono::steady_clock::now();
  }
  out_.clear();
  written_ = 0;
  if (std::exchange(blocked_, false)) {
    if (reader_.state() == RequestReader::State::idle)
      waiting_since_ = std::chrono::steady_clock::now();
    want();
  }
  if (const auto pending = pending_) pending->drained();
  if (busy_) return;
  if (closing_) return linger();
  serve_next();
}

void Connection::linger() {
  if (std::exchange(lingering_, true)) return;
  ::shutdown(socket_, SHUT_WR);
  waiting_since_ = std::chrono::steady_clock::now();
}

void Connection::tick(Time now) {
  using State = RequestReader::State;
  if (over_) return;
  const auto waited = now - waiting_since_;
  if (lingering_) {
    if (waited > kLingering) close();
    return;
  }
  if (blocked_ && now - took_ > limits_.slow) {
    // What it has not taken must not be kept for it by the system either.
    const struct linger reset = {1, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    return lose();
  }
  if (busy_) {
    if (const auto pending = pending_) pending->tick(now);
    return;
  }
  if (closing_ || blocked_) return;
  const State state = reader_.state();
  if (state == State::idle && waited > limits_.idle) return close();
  if ((state == State::head && waited > limits_.head) ||
      (state == State::body && waited > limits_.body))
    turn_away(408, "the request took too long", "send it at once");
}

void Connection::finish() {
  finishing_ = true;
  if (!busy_) serve_next();
}

void Connection::shut_down() {
  if (const auto pending = pending_) pending->shut_down();
}

void Connection::lose() {
  if (over_) return;
  if (const auto pending = std::exchange(pending_, nullptr)) pending->left();
  close();
}

void Connection::close() {
  if (std::exchange(over_, true)) return;
  watch_.cancel();
  loop_.soon(closed_);
}

}  // namespace stoka::serve
