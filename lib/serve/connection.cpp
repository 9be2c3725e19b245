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

// The connection is kept open for a while after the last response, because the client may still be
// sending. A socket that is closed at once would be reset, and the client could not read the
// response.
constexpr std::chrono::seconds kLingerTimeout{2};
constexpr size_t kMaxDiscarded = 1u << 20;
constexpr size_t kMaxReceivePerRound = 256u << 10;  // bytes for one client in a round of the loop
constexpr size_t kMaxUnsentBytes = 64u << 10;       // with more unsent, no request is handled

void set_option(int socket, int level, int name, int value) {
  ::setsockopt(socket, level, name, &value, sizeof value);
}

}  // namespace

Connection::Connection(net::EventLoop& loop, int socket, IpAddress peer, Handler& handler,
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
      last_write_(waiting_since_) {
  set_option(socket_, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(socket_, SOL_SOCKET, SO_KEEPALIVE, 1);
  watch_ = loop_.watch(socket_, [this](net::EventLoop::Readiness what) { on_ready(what); });
  update_watch();
}

Connection::~Connection() {
  watch_.cancel();
  ::close(socket_);
}

// A pipelined request waits until the client has read earlier responses. Until then recv() is not
// called.
bool Connection::has_unhandled_request() const {
  using State = RequestReader::State;
  return !busy_ && !closing_ &&
         (reader_.state() == State::complete || reader_.state() == State::refused);
}

void Connection::update_watch() {
  watch_.set_interest(!has_unhandled_request() || !blocked_, blocked_);
}

void Connection::on_ready(net::EventLoop::Readiness what) {
  if (what.readable) receive();
  if (what.writable && !over_) flush();
}

void Connection::receive() {
  std::array<char, 16384> bytes;
  for (size_t total = 0; total < kMaxReceivePerRound && !over_ && !has_unhandled_request();) {
    const ssize_t got = ::recv(socket_, bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (got <= 0) {
      if (!busy_) flush();  // the client may only have stopped sending, and may still read
      return disconnect();
    }
    const std::string_view received(bytes.data(), static_cast<size_t>(got));
    total += received.size();
    if (closing_) {
      discarded_ += received.size();
      if (discarded_ > kMaxDiscarded) return close();
    } else if (busy_) {
      pipelined_ += received;
      if (pipelined_.size() > limits_.max_pipelined) return disconnect();
    } else {
      push(received);
    }
    if (received.size() < bytes.size()) return;
  }
}

void Connection::push(std::string_view bytes) {
  const auto before = reader_.state();
  const auto after = reader_.push(bytes);
  if (after != before) waiting_since_ = std::chrono::steady_clock::now();
  handle_requests();
}

void Connection::handle_requests() {
  using State = RequestReader::State;
  while (!busy_ && !over_ && !closing_ && backlog() <= kMaxUnsentBytes) {
    if (reader_.expects_continue()) {
      out_ += "HTTP/1.1 100 Continue\r\n\r\n";
      schedule_flush();
    }
    if (reader_.state() == State::refused) {
      const RequestReader::Refusal& refusal = reader_.refusal();
      return refuse(refusal.status, refusal.why, refusal.hint);
    }
    if (reader_.state() != State::complete) break;
    HttpRequest request = reader_.take();
    busy_ = true;
    head_only_ = request.method == "HEAD";
    chunked_ = request.minor_version > 0;
    keep_alive_ = request.keep_alive;
    auto pending = handler_.handle(std::move(request), *this);
    if (busy_) pending_ = std::move(pending);
  }
  if (finishing_ && !busy_ && !closing_ && reader_.state() == State::idle) {
    closing_ = true;
    schedule_flush();
  }
  if (blocked_ && !over_) update_watch();
}

void Connection::refuse(int status, std::string_view why, std::string_view hint) {
  busy_ = true;
  head_only_ = false;
  keep_alive_ = false;
  respond(handler_.refuse(reader_.head(), status, why, hint));
}

void Connection::respond(HttpResponse response) {
  const bool keep = keep_alive_ && !response.close && !finishing_;
  out_ += response_head(response, Framing::sized, response.body.size(), keep);
  if (!head_only_) out_ += response.body;
  finish_response(keep);
}

void Connection::begin_stream(HttpResponse head) {
  keep_alive_ = keep_alive_ && chunked_ && !finishing_;
  out_ += response_head(head, chunked_ ? Framing::chunked : Framing::until_close, 0, keep_alive_);
  schedule_flush();
}

void Connection::send(std::string_view bytes) {
  chunk_ += bytes;
  schedule_flush();
}

void Connection::frame_chunk() {
  if (chunk_.empty()) return;
  if (chunked_) fmt::format_to(std::back_inserter(out_), "{:x}\r\n", chunk_.size());
  out_ += chunk_;
  if (chunked_) out_ += "\r\n";
  chunk_.clear();
}

void Connection::end(bool close) {
  frame_chunk();
  if (chunked_) out_ += "0\r\n\r\n";
  finish_response(keep_alive_ && !close);
}

void Connection::finish_response(bool keep) {
  busy_ = false;
  closing_ = !keep;
  waiting_since_ = std::chrono::steady_clock::now();
  // The pipelined bytes were received before all that follows, so they are parsed first.
  if (!pipelined_.empty() && keep) reader_.push(std::exchange(pipelined_, {}));
  // The pending response may be the caller of this function, so it is destroyed later.
  if (pending_) loop_.defer([pending = std::move(pending_)] {});
  schedule_flush();
}

void Connection::schedule_flush() {
  if (std::exchange(flush_scheduled_, true)) return;
  loop_.defer([self = std::weak_ptr(self_)] {
    if (const auto alive = self.lock()) (*alive)->flush();
  });
}

void Connection::flush() {
  flush_scheduled_ = false;
  if (over_) return;
  frame_chunk();
  while (written_ < out_.size()) {
    const ssize_t sent =
        ::send(socket_, out_.data() + written_, out_.size() - written_, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      if (written_ > kMaxUnsentBytes) {
        out_.erase(0, written_);
        written_ = 0;
      }
      if (!std::exchange(blocked_, true)) {
        last_write_ = std::chrono::steady_clock::now();
        update_watch();
      }
      return;
    }
    if (sent < 0) return disconnect();
    written_ += static_cast<size_t>(sent);
    if (blocked_) last_write_ = std::chrono::steady_clock::now();
  }
  out_.clear();
  written_ = 0;
  if (std::exchange(blocked_, false)) {
    if (reader_.state() == RequestReader::State::idle)
      waiting_since_ = std::chrono::steady_clock::now();
    update_watch();
  }
  if (const auto pending = pending_) pending->on_drained();
  if (busy_) return;
  if (closing_) return linger();
  handle_requests();
}

void Connection::linger() {
  if (std::exchange(lingering_, true)) return;
  ::shutdown(socket_, SHUT_WR);
  waiting_since_ = std::chrono::steady_clock::now();
}

void Connection::tick(TimePoint now) {
  using State = RequestReader::State;
  if (over_) return;
  const auto waited = now - waiting_since_;
  if (lingering_) {
    if (waited > kLingerTimeout) close();
    return;
  }
  if (blocked_ && now - last_write_ > limits_.write_timeout) {
    // If the connection were reset, the system would also drop bytes that the client has not taken.
    const struct linger reset = {1, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    return disconnect();
  }
  if (busy_) {
    if (const auto pending = pending_) pending->tick(now);
    return;
  }
  if (closing_ || blocked_) return;
  const State state = reader_.state();
  if (state == State::idle && waited > limits_.idle_timeout) return close();
  if ((state == State::head && waited > limits_.head_timeout) ||
      (state == State::body && waited > limits_.body_timeout))
    refuse(408, "the request took too long", "send it faster");
}

void Connection::finish() {
  finishing_ = true;
  if (!busy_) handle_requests();
}

void Connection::shut_down() {
  if (const auto pending = pending_) pending->on_shutdown();
}

void Connection::disconnect() {
  if (over_) return;
  if (const auto pending = std::exchange(pending_, nullptr)) pending->on_disconnect();
  close();
}

void Connection::close() {
  if (std::exchange(over_, true)) return;
  watch_.cancel();
  loop_.defer(closed_);
}

}  // namespace stoka::serve
