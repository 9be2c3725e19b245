#include "bench/load/upstream.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <optional>
#include <queue>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/load/answers.h"
#include "bench/load/process.h"

namespace stoka::load {
namespace {

constexpr int64_t kStep = 1000;  // us

volatile sig_atomic_t stopped = 0;

enum class Fault { none, status, cut, nonsense, silence, error_event };

struct Stream {
  Script script;
  int at = 0;
  int64_t start_us = 0;
  int interval_us = 0;
  int leaver = -1;
  Fault fault = Fault::none;
  int fault_at = 0;
  bool silent = false;
};

struct Connection {
  int fd = -1;
  uint64_t serial = 0;
  std::string in, out;
  size_t sent = 0;
  bool wants_out = false;
  bool closing = false;  // after `out` is sent
  std::optional<Stream> stream;
};

struct Due {
  int64_t us;
  int fd;
  uint64_t serial;
  bool operator>(const Due& other) const { return us > other.us; }
};

size_t content_length(std::string_view head) {
  for (size_t at = head.find("\r\n"); at != head.npos; at = head.find("\r\n", at + 2))
    if (::strncasecmp(head.data() + at + 2, "content-length:", 15) == 0)
      return std::strtoul(head.data() + at + 17, nullptr, 10);
  return 0;
}

int leaver_in(std::string_view body) {
  const size_t at = body.rfind(kLeaver);
  if (at == body.npos) return -1;
  const int out = std::atoi(body.data() + at + kLeaver.size());
  return out >= 0 && static_cast<size_t>(out) < Board::kLeavers ? out : -1;
}

class Upstream {
 public:
  Upstream(int listener, Board& board) : listener_(listener), board_(board) {
    epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
    watch(EPOLL_CTL_ADD, listener_, EPOLLIN);
  }

  void run() {
    std::array<epoll_event, 256> events{};
    while (!stopped) {
      timespec wait{1, 0};
      if (!due_.empty()) {
        const int64_t us = std::max<int64_t>(0, due_.top().us - now_us());
        wait = {us / 1000000, us % 1000000 * 1000};
      }
      const int count = ::epoll_pwait2(epoll_, events.data(), events.size(), &wait, nullptr);
      for (int i = 0; i < count; ++i) {
        const int fd = events[static_cast<size_t>(i)].data.fd;
        if (fd == listener_)
          accept_all();
        else
          handle(fd, events[static_cast<size_t>(i)].events);
      }
      send_due();
    }
  }

 private:
  void watch(int what, int fd, uint32_t events) {
    epoll_event event{};
    event.events = events;
    event.data.fd = fd;
    ::epoll_ctl(epoll_, what, fd, &event);
  }

  void accept_all() {
    for (;;) {
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (fd < 0) return;
      const int on = 1;
      ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      if (connections_.size() <= static_cast<size_t>(fd)) connections_.resize(fd + 1u);
      connections_[fd] = std::make_unique<Connection>();
      connections_[fd]->fd = fd;
      connections_[fd]->serial = ++serial_;
      watch(EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLRDHUP);
    }
  }

  void handle(int fd, uint32_t events) {
    if (!connections_[fd]) return;
    Connection& connection = *connections_[fd];
    if ((events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) {
      for (;;) {
        const ssize_t got = ::recv(fd, buffer_.data(), buffer_.size(), 0);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) break;
        if (got <= 0) return drop(connection);
        connection.in.append(buffer_.data(), static_cast<size_t>(got));
        if (static_cast<size_t>(got) < buffer_.size() && (events & EPOLLRDHUP) == 0) break;
      }
    }
    go_on(connection);
  }

  // Writes as much as possible without blocking. The connection may be closed afterwards.
  void go_on(Connection& connection) {
    for (;;) {
      if (!flush(connection)) return drop(connection);
      if (connection.wants_out) return;
      if (connection.closing) return drop(connection);
      if (connection.stream) {
        if (connection.stream->silent || connection.stream->interval_us > 0) return;
        while (connection.stream && !connection.closing && !connection.stream->silent &&
               connection.out.size() < (256u << 10))
          next_token(connection, now_us());
      } else if (!next_request(connection)) {
        return;
      }
    }
  }

  // Returns false if the connection was closed.
  bool flush(Connection& connection) {
    while (connection.sent < connection.out.size()) {
      const ssize_t put = ::send(connection.fd, connection.out.data() + connection.sent,
                                 connection.out.size() - connection.sent, MSG_NOSIGNAL);
      if (put < 0 && errno == EINTR) continue;
      if (put < 0 && errno != EAGAIN) return false;
      if (put < 0) break;
      connection.sent += static_cast<size_t>(put);
    }
    const bool blocked = connection.sent < connection.out.size();
    if (!blocked) {
      connection.out.clear();
      connection.sent = 0;
    }
    if (blocked != connection.wants_out) {
      connection.wants_out = blocked;
      watch(EPOLL_CTL_MOD, connection.fd,
            EPOLLIN | EPOLLRDHUP | (blocked ? static_cast<uint32_t>(EPOLLOUT) : 0u));
    }
    return true;
  }

  void drop(Connection& connection) {
    if (connection.stream) {
      const Stream& stream = *connection.stream;
      --board_.open;
      if (!connection.closing && !stream.silent) {
        ++board_.left;
        if (stream.leaver >= 0) board_.left_us[stream.leaver] = now_us();
      }
    }
    const int fd = connection.fd;
    ::close(fd);
    connections_[fd].reset();
  }

  bool next_request(Connection& connection) {
    const size_t head_end = connection.in.find("\r\n\r\n");
    if (head_end == std::string::npos) return false;
    const std::string_view head = std::string_view(connection.in).substr(0, head_end + 2);
    const size_t size = head_end + 4 + content_length(head);
    if (connection.in.size() < size) return false;
    const size_t target = head.find(' ') + 1;
    const std::string_view path = head.substr(target, head.find(' ', target) - target);
    const std::string_view body(connection.in.data() + head_end + 4, size - head_end - 4);
    answer(connection, path, body);
    connection.in.erase(0, size);
    return true;
  }

  void answer(Connection& connection, std::string_view path, std::string_view body) {
    if (path == "/info") {
      connection.out += http(200, info_json());
      return;
    }
    if (path == "/v1/models") {
      connection.out += http(200, models_json());
      return;
    }
    const Fault fault = pick_fault(path == "/v1/chat/completions");
    if (fault == Fault::status) {
      connection.out += http(500, R"({"error":{"message":"out of memory","type":"server_error"}})");
    } else if (fault == Fault::cut && path != "/v1/chat/completions") {
      connection.closing = true;
    } else if (fault == Fault::nonsense && path != "/v1/chat/completions") {
      connection.out += http(200, "[[0.1, nonsense \xff");
    } else if (path == "/embed") {
      ++board_.embeds;
      board_.embed.put(body);
      connection.out += http(200, embed_json(body));
    } else if (path == "/rerank") {
      ++board_.reranks;
      board_.rerank.put(body);
      connection.out += http(200, rerank_json(body));
    } else if (path == "/v1/chat/completions") {
      ++board_.chats;
      if (body.find("\"stream\":true") == body.npos)
        connection.out += http(200, whole_chat_json(body));
      else
        start(connection, body, fault);
    } else {
      connection.out += http(404, "{}");
    }
  }

  Fault pick_fault(bool chat) {
    if (static_cast<int>(random_() % 1000) >= board_.fault_permille) return Fault::none;
    ++board_.faults;
    static constexpr std::array kAny = {Fault::status, Fault::cut, Fault::nonsense};
    static constexpr std::array kChat = {Fault::status, Fault::cut, Fault::nonsense, Fault::silence,
                                         Fault::error_event};
    return chat ? kChat[random_() % kChat.size()] : kAny[random_() % kAny.size()];
  }

  void start(Connection& connection, std::string_view body, Fault fault) {
    board_.chat.put(body);
    ++board_.open;
    const int interval = board_.interval_us;
    connection.stream.emplace(Stream{Script(body, board_.tokens, board_.citations, interval > 0)});
    Stream& stream = *connection.stream;
    stream.start_us = now_us();
    // Like a model server, writes the tokens of all answers after each step.
    if (interval > 0) stream.start_us += kStep - stream.start_us % kStep;
    stream.interval_us = interval;
    stream.leaver = leaver_in(body);
    stream.fault = fault;
    stream.fault_at = static_cast<int>(random_() % static_cast<unsigned>(stream.script.tokens()));
    connection.out += stream_head();
    if (interval > 0) due_.push({stream.start_us, connection.fd, connection.serial});
  }

  // Writes a bounded number of overdue tokens, so that new and closing connections need not wait.
  void send_due() {
    for (int most = 256; most > 0 && !due_.empty(); --most) {
      const Due due = due_.top();
      if (due.us > now_us()) return;
      due_.pop();
      if (connections_[due.fd] && connections_[due.fd]->serial == due.serial &&
          connections_[due.fd]->stream) {
        Connection& connection = *connections_[due.fd];
        next_token(connection, due.us);
        if (connection.stream && !connection.stream->silent)
          due_.push({due.us + connection.stream->interval_us, due.fd, due.serial});
        go_on(connection);
      }
    }
  }

  void next_token(Connection& connection, int64_t due_us) {
    Stream& stream = *connection.stream;
    if (stream.fault != Fault::none && stream.at == stream.fault_at) {
      if (stream.fault == Fault::silence) {
        stream.silent = true;
        return;
      }
      if (stream.fault == Fault::nonsense) Script::garbage(connection.out);
      if (stream.fault == Fault::error_event) {
        Script::error_event(connection.out);
        end(connection);
      } else {
        connection.closing = true;
      }
      return;
    }
    if (stream.at < stream.script.tokens())
      stream.script.token(connection.out, stream.at++, due_us);
    if (stream.at < stream.script.tokens()) return;
    Script::finish(connection.out);
    ++board_.finished;
    end(connection);
  }

  void end(Connection& connection) {
    --board_.open;
    connection.stream.reset();
  }

  const int listener_;
  Board& board_;
  int epoll_ = -1;
  uint64_t serial_ = 0;
  std::vector<std::unique_ptr<Connection>> connections_;  // by file descriptor
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  std::mt19937 random_{5};
  std::array<char, 1 << 16> buffer_{};
};

}  // namespace

void serve_models(int listener, Board& board) {
  ::prctl(PR_SET_TIMERSLACK, 1000);
  ::signal(SIGINT, SIG_IGN);
  struct sigaction action {};
  action.sa_handler = [](int) { stopped = 1; };
  ::sigaction(SIGTERM, &action, nullptr);
  Upstream(listener, board).run();
}

}  // namespace stoka::load
