#include "bench/load/client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <queue>
#include <stdexcept>

#include "bench/load/process.h"
#include "bench/load/reader.h"

namespace stoka::load {
namespace {

constexpr int64_t kSlowPause = 20000;
constexpr int64_t kStall = 40000000;
constexpr int64_t kGap = 30000;  // more than one interval, less than two
constexpr size_t kSlowRead = 4096;

struct Connection {
  int fd = -1;
  uint64_t serial = 0;  // identifies the socket and the job
  bool used = false;    // has had a response
  bool again = false;   // the job was sent before on a connection that the server had closed
  bool paused = false;
  bool stalled = false;
  bool wants_out = false;
  bool counted = false;  // counted in flowing_
  size_t sent = 0;
  int64_t until_us = 0;
  Job job;
  Outcome outcome;
  std::unique_ptr<Reader> reader;
};

struct Due {
  int64_t us;
  size_t at;
  uint64_t serial;
  enum class What { resume, leave } what;
  bool operator>(const Due& other) const { return us > other.us; }
};

class Loop {
 public:
  Loop(const ClientOptions& options, Pace& pace, const Client::Next& next, const Client::Done& done)
      : options_(options), next_(next), done_(done) {
    epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
    if (options.paced_from > 0)
      late_ = [this, &pace](const Reader::Paced& token, const Reader::Paced& before) {
        if (flowing_ < options_.paced_from) return;
        pace.late.push_back(static_cast<float>(token.now_us - token.due_us) / 1000.0f);
        // Pieces of a citation may be between them.
        if (token.due_us - before.due_us <= kGap)
          pace.gap.push_back(static_cast<float>(token.now_us - before.now_us) / 1000.0f);
      };
  }
  ~Loop() {
    for (Connection& connection : connections_)
      if (connection.fd >= 0) ::close(connection.fd);
    ::close(epoll_);
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void run() {
    connections_.resize(static_cast<size_t>(options_.connections));
    for (size_t at = 0; at < connections_.size(); ++at) take(at);
    std::array<epoll_event, 256> events{};
    while (busy_ > 0) {
      if (interrupted()) throw std::runtime_error("interrupted");
      timespec wait{0, 200000000};
      if (!due_.empty()) {
        const int64_t us = std::clamp<int64_t>(due_.top().us - now_us(), 0, 200000);
        wait.tv_nsec = us * 1000;
      }
      const int count = ::epoll_pwait2(epoll_, events.data(), events.size(), &wait, nullptr);
      for (int i = 0; i < count; ++i) {
        const epoll_event& event = events[static_cast<size_t>(i)];
        const size_t at = event.data.u64 & 0xffffffff;
        if (connections_[at].fd < 0) continue;
        if ((event.events & EPOLLOUT) != 0) send(at);
        if ((event.events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0 && connections_[at].fd >= 0)
          receive(at);
      }
      keep_time();
    }
  }

 private:
  void watch(int what, size_t at) {
    Connection& connection = connections_[at];
    epoll_event event{};
    event.events = (connection.paused ? 0u : static_cast<uint32_t>(EPOLLIN)) |
                   (connection.wants_out ? static_cast<uint32_t>(EPOLLOUT) : 0u);
    event.data.u64 = at;
    ::epoll_ctl(epoll_, what, connection.fd, &event);
  }

  // Starts the next job, if there is one.
  void take(size_t at) {
    std::optional<Job> job = next_();
    if (!job) {
      disconnect(at, false);
      return;
    }
    ++busy_;
    connections_[at].job = std::move(*job);
    connections_[at].again = false;
    start(at);
  }

  void start(size_t at) {
    Connection& connection = connections_[at];
    const bool narrow = connection.job.manner != Job::Manner::usual;
    if (narrow && connection.fd >= 0) disconnect(at, false);
    connection.serial = ++serial_;
    connection.sent = 0;
    connection.paused = connection.stalled = connection.counted = false;
    connection.outcome = {};
    connection.outcome.tag = connection.job.tag;
    connection.outcome.form = connection.job.form;
    connection.reader = std::make_unique<Reader>(connection.job, connection.outcome, late_);
    if (connection.fd < 0) connect(at, narrow);
    const int64_t now = now_us();
    connection.outcome.sent_us = now;
    const double seconds =
        options_.job_seconds + (connection.job.manner == Job::Manner::stalled ? kStall / 1e6 : 0);
    connection.until_us = now + static_cast<int64_t>(seconds * 1e6);
    if (connection.job.leave_after_us >= 0)
      due_.push({now + connection.job.leave_after_us, at, serial_, Due::What::leave});
    send(at);
  }

  void connect(size_t at, bool narrow) {
    Connection& connection = connections_[at];
    connection.fd = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (connection.fd < 0) throw std::runtime_error("no socket: too many open files");
    const int on = 1, small = 4096;
    ::setsockopt(connection.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (narrow) ::setsockopt(connection.fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(options_.port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(connection.fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 &&
        errno != EINPROGRESS)
      throw std::runtime_error(fmt::format("nobody listens on port {}", options_.port));
    connection.used = false;
    connection.wants_out = false;
    watch(EPOLL_CTL_ADD, at);
  }

  void disconnect(size_t at, bool reset) {
    Connection& connection = connections_[at];
    if (connection.fd < 0) return;
    if (reset) {
      const linger hard{1, 0};
      ::setsockopt(connection.fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    }
    ::close(connection.fd);
    connection.fd = -1;
  }

  void send(size_t at) {
    Connection& connection = connections_[at];
    const std::string& bytes = connection.job.bytes;
    bool blocked = false;
    while (connection.sent < bytes.size() && !blocked) {
      const ssize_t put = ::send(connection.fd, bytes.data() + connection.sent,
                                 bytes.size() - connection.sent, MSG_NOSIGNAL);
      if (put >= 0)
        connection.sent += static_cast<size_t>(put);
      else if (errno == EAGAIN || errno == ENOTCONN)
        blocked = true;
      else if (errno != EINTR)
        break;  // reading will report the reason
    }
    if (blocked != connection.wants_out) {
      connection.wants_out = blocked;
      watch(EPOLL_CTL_MOD, at);
    }
  }

  void receive(size_t at) {
    Connection& connection = connections_[at];
    const bool narrow = connection.job.manner != Job::Manner::usual;
    const size_t most = narrow ? kSlowRead : buffer_.size();
    const ssize_t got = ::recv(connection.fd, buffer_.data(), most, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    Reader& reader = *connection.reader;
    if (got <= 0) {
      if (connection.used && !reader.begun() && !connection.again) {
        connection.again = true;  // the server had closed the idle connection
        disconnect(at, false);
        return start(at);
      }
      reader.closed();
      if (connection.outcome.cut && connection.job.manner != Job::Manner::stalled)
        connection.outcome.wrong =
            !reader.begun() ? "closed without an answer" : "cut in the middle of an answer";
      return finish(at, false);
    }
    reader.feed({buffer_.data(), static_cast<size_t>(got)}, now_us());
    count(connection);
    if (reader.whole()) return finish(at, reader.keeps_alive() && !narrow);
    const int leave = connection.job.leave_after;
    if (leave >= 0 && reader.has_head() && reader.events() >= leave) return this->leave(at);
    if (!narrow) return;
    const bool stalls = connection.job.manner == Job::Manner::stalled;
    if (!stalls || !connection.stalled) {
      connection.paused = true;
      watch(EPOLL_CTL_MOD, at);
      due_.push(
          {now_us() + (stalls ? kStall : kSlowPause), at, connection.serial, Due::What::resume});
      connection.stalled = true;
    }
  }

  // The number of streams that are past their first token.
  void count(Connection& connection) {
    const bool flows = connection.outcome.first_us != 0 && connection.outcome.last == 0;
    if (flows != connection.counted) flowing_ += flows ? 1 : -1;
    connection.counted = flows;
  }

  void leave(size_t at) {
    connections_[at].outcome.left = true;
    finish(at, false);
  }

  void finish(size_t at, bool keep) {
    Connection& connection = connections_[at];
    if (connection.counted) --flowing_;
    connection.counted = false;
    connection.used = true;
    if (!keep) disconnect(at, connection.outcome.left && connection.job.reset);
    if (connection.outcome.end_us == 0) connection.outcome.end_us = now_us();
    connection.serial = ++serial_;
    --busy_;
    done_(connection.outcome);
    take(at);
  }

  void keep_time() {
    const int64_t now = now_us();
    while (!due_.empty() && due_.top().us <= now) {
      const Due due = due_.top();
      due_.pop();
      Connection& connection = connections_[due.at];
      if (connection.serial != due.serial || connection.fd < 0) continue;
      if (due.what == Due::What::leave) {
        leave(due.at);
      } else {
        connection.paused = false;
        watch(EPOLL_CTL_MOD, due.at);
      }
    }
    if (now < next_look_) return;
    next_look_ = now + 500000;
    for (size_t at = 0; at < connections_.size(); ++at)
      if (connections_[at].fd >= 0 && connections_[at].until_us < now) {
        connections_[at].outcome.wrong = "not ended in time";
        finish(at, false);
      }
  }

  const ClientOptions& options_;
  const Client::Next& next_;
  const Client::Done& done_;
  Reader::Late late_;
  int epoll_ = -1;
  int busy_ = 0;
  int flowing_ = 0;
  uint64_t serial_ = 0;
  int64_t next_look_ = 0;
  std::vector<Connection> connections_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  std::array<char, 1 << 16> buffer_{};
};

}  // namespace

void Client::run(const Next& next, const Done& done) { Loop(options_, pace_, next, done).run(); }

std::string request(std::string_view method, std::string_view target, std::string_view body) {
  std::string out =
      fmt::format("{} {} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: */*\r\n", method, target);
  if (method == "POST")
    out += fmt::format("Content-Type: application/json\r\nContent-Length: {}\r\n", body.size());
  return out + "\r\n" + std::string(body);
}

}  // namespace stoka::load
