#include "terminal/interrupt.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace stoka::terminal {
namespace {

constexpr char kSignal = 's';
constexpr char kQuit = 'q';

std::atomic<int> signal_fd{-1};
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void on_interrupt_signal(int) {
  const int saved = errno;
  if (const int fd = signal_fd.load(); fd >= 0) {
    [[maybe_unused]] const ssize_t ignored = ::write(fd, &kSignal, 1);
  }
  errno = saved;
}

}  // namespace

struct Interrupt::State {
  int pipe[2] = {-1, -1};
  int output = -1;                                       // used by the watcher thread only
  std::vector<std::pair<int, struct sigaction>> before;  // the previous handler of each signal
  std::thread watcher;
  std::mutex mutex;
  std::optional<std::stop_source> work;  // guarded by the mutex
  bool output_closed = false;            // guarded by the mutex

  ~State() {
    for (const auto& [signal, action] : before) ::sigaction(signal, &action, nullptr);
    if (!before.empty()) signal_fd = -1;
    if (watcher.joinable()) {
      // If the pipe is full, the watcher thread is awake and empties it, so the write is retried.
      while (::write(pipe[1], &kQuit, 1) < 0 && (errno == EINTR || errno == EAGAIN)) {
        std::this_thread::yield();
      }
      watcher.join();
    }
    for (const int fd : pipe) {
      if (fd >= 0) ::close(fd);
    }
  }

  void watch() {
    while (true) {
      // With no requested events, poll() reports only that the reader of the output is gone.
      pollfd watched[2] = {{pipe[0], POLLIN, 0}, {output, 0, 0}};
      if (::poll(watched, 2, -1) < 0) {
        if (errno == EINTR) continue;
        return;
      }
      if (watched[1].revents != 0) {
        output = -1;
        if ((watched[1].revents & POLLNVAL) == 0) stop_work(true);
      }
      if (watched[0].revents == 0) continue;
      char what = 0;
      const ssize_t got = ::read(pipe[0], &what, 1);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0 || what == kQuit) return;
      stop_work(false);
    }
  }

  void stop_work(bool closed) {
    std::optional<std::stop_source> current;
    {
      const std::lock_guard lock(mutex);
      if (closed) output_closed = true;
      current = work;
    }
    // The lock is released before the stop is requested, because stop callbacks may take long.
    if (current) current->request_stop();
  }
};

Interrupt::Interrupt(std::unique_ptr<State> state) : state_(std::move(state)) {}
Interrupt::~Interrupt() = default;

Result<std::unique_ptr<Interrupt>> Interrupt::install(InterruptOptions options) {
  const auto failed = [](int number) {
    return fail(ErrorKind::internal,
                fmt::format("cannot watch for Ctrl-C: {}", std::strerror(number)),
                "close some programs and try again");
  };
  auto state = std::make_unique<State>();
  state->output = options.output;
  if (::pipe2(state->pipe, O_CLOEXEC) != 0) return failed(errno);
  // The write end of the pipe is non-blocking, because a signal handler must not wait.
  if (::fcntl(state->pipe[1], F_SETFL, O_NONBLOCK) != 0) return failed(errno);

  // The watcher thread blocks all signals, so that they interrupt the thread that reads from the
  // terminal.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = 0;
  try {
    state->watcher = std::thread(&State::watch, state.get());
  } catch (const std::system_error& e) {
    error = e.code().value();
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) return failed(error);

  signal_fd = state->pipe[1];
  struct sigaction action {};
  action.sa_handler = on_interrupt_signal;
  ::sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM}) {
    if (signal == SIGTERM && !options.sigterm) continue;
    struct sigaction former {};
    if (::sigaction(signal, &action, &former) != 0) {
      const int number = errno;
      signal_fd = -1;
      return failed(number);
    }
    state->before.emplace_back(signal, former);
  }
  return std::unique_ptr<Interrupt>(new Interrupt(std::move(state)));
}

std::stop_token Interrupt::begin() {
  const std::lock_guard lock(state_->mutex);
  state_->work.emplace();
  if (state_->output_closed) state_->work->request_stop();
  return state_->work->get_token();
}

bool Interrupt::end() {
  const std::lock_guard lock(state_->mutex);
  const bool stopped = state_->work && state_->work->stop_requested();
  state_->work.reset();
  return stopped;
}

bool Interrupt::output_closed() const {
  const std::lock_guard lock(state_->mutex);
  return state_->output_closed;
}

}  // namespace stoka::terminal
