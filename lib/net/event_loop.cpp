#include "net/event_loop.h"

#include <curl/curl.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include "net/curl_transfer.h"

namespace stoka::net {
namespace {

constexpr size_t kMaxIdleLoops = 16;   // loops in the pool, each with its open connections
constexpr long kMaxConnections = 512;  // connections that one loop keeps open
// The user data of an epoll event is a socket of libcurl with this bit set, or zero for the
// eventfd, or the id of a watch.
constexpr uint64_t kCurlSocket = uint64_t{1} << 63;
constexpr int kMaxWaitMs = 60 * 60 * 1000;

using SteadyClock = std::chrono::steady_clock;

struct MultiCleanup {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};

void notify(int eventfd) {
  const uint64_t one = 1;
  // A write fails only if the eventfd's counter is at its maximum; the loop then wakes up as well.
  [[maybe_unused]] const ssize_t written = ::write(eventfd, &one, sizeof one);
}

}  // namespace

EventLoop::Timer& EventLoop::Timer::operator=(Timer&& other) noexcept {
  if (this != &other) {
    cancel();
    loop_ = std::exchange(other.loop_, nullptr);
    key_ = other.key_;
  }
  return *this;
}

void EventLoop::Timer::cancel() {
  if (EventLoop* loop = std::exchange(loop_, nullptr)) loop->timers_.erase(key_);
}

// A network transfer on an event loop.
class LoopTransfer final : public Transfer, BodySink {
 public:
  LoopTransfer(EventLoop& loop, BodySink& sink, CompletionCallback done)
      : loop_(loop), sink_(sink), done_(std::move(done)) {}
  ~LoopTransfer() override { stop(); }
  LoopTransfer(const LoopTransfer&) = delete;
  LoopTransfer& operator=(const LoopTransfer&) = delete;

  void begin(const HttpRequest& request);
  void pause() override;
  void resume() override;

  // Called when libcurl is done with the handle.
  void complete(CURLcode code) { end(curl_transfer_->finish(code)); }
  // Called after the sink was called: ends the transfer if the sink needs no more, else updates the
  // timer.
  void check();

 private:
  Result<> head(const ResponseHead& head) override { return after_sink(sink_.head(head)); }
  Result<BodyProgress> body(std::string_view bytes) override {
    return after_sink(sink_.body(bytes));
  }
  template <class T>
  T after_sink(T result);
  void set_timer();
  void stop();
  void end(std::optional<TransferFailure> failure);

  EventLoop& loop_;
  BodySink& sink_;
  CompletionCallback done_;
  std::unique_ptr<CurlTransfer> curl_transfer_;
  EventLoop::Timer timer_;
  EventLoop::Timer resume_timer_;
  EventLoop::Time timer_at_{};
  bool added_ = false;
  bool check_pending_ = false;
};

struct EventLoop::Curl {
  CURLM* handle() const { return multi.get(); }

  static int on_socket(CURL*, curl_socket_t socket, int what, void* self, void*) {
    auto* const loop = static_cast<EventLoop*>(self);
    if (what == CURL_POLL_REMOVE) {
      ::epoll_ctl(loop->epoll_, EPOLL_CTL_DEL, socket, nullptr);
      return 0;
    }
    epoll_event event{};
    event.data.u64 = kCurlSocket | static_cast<uint64_t>(socket);
    if (what & CURL_POLL_IN) event.events |= EPOLLIN;
    if (what & CURL_POLL_OUT) event.events |= EPOLLOUT;
    if (::epoll_ctl(loop->epoll_, EPOLL_CTL_MOD, socket, &event) != 0)
      ::epoll_ctl(loop->epoll_, EPOLL_CTL_ADD, socket, &event);
    return 0;
  }

  static int on_timer(CURLM*, long ms, void* self) {
    auto* const loop = static_cast<EventLoop*>(self);
    loop->curl_->timer = {};
    if (ms >= 0)
      loop->curl_->timer = loop->after(
          Milliseconds(ms), [loop] { loop->curl_->on_socket_event(CURL_SOCKET_TIMEOUT, 0); });
    return 0;
  }

  void on_socket_event(curl_socket_t socket, int events) {
    int running = 0;
    curl_multi_socket_action(handle(), socket, events, &running);
  }

  // Ends the transfers that are over and checks those whose sinks were called.
  void process_transfers() {
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(handle(), &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      LoopTransfer* transfer = nullptr;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
      transfer->complete(message->data.result);
    }
    while (!to_check.empty()) {
      LoopTransfer* const transfer = to_check.back();
      to_check.pop_back();
      transfer->check();
    }
  }

  std::unique_ptr<CURLM, MultiCleanup> multi{curl_multi_init()};
  Timer timer;
  std::vector<LoopTransfer*> to_check;
};

void LoopTransfer::begin(const HttpRequest& request) {
  CURLM* const multi = loop_.curl().handle();
  auto curl_transfer = CurlTransfer::create(request, *this);
  std::optional<TransferFailure> failure;
  if (!loop_.works()) {
    failure = TransferFailure{.error = Error(ErrorKind::busy,
                                             "no file descriptors are left for connections",
                                             "raise the limit (ulimit -n)")};
  } else if (!curl_transfer) {
    failure = TransferFailure{.error = curl_transfer.error()};
  } else {
    curl_transfer_ = std::move(*curl_transfer);
    curl_easy_setopt(curl_transfer_->handle(), CURLOPT_PRIVATE, this);
    added_ = curl_multi_add_handle(multi, curl_transfer_->handle()) == CURLM_OK;
    if (added_) return set_timer();
    failure = curl_transfer_->failure(Error(ErrorKind::internal, "libcurl rejects the request"));
  }
  timer_ = loop_.after(Milliseconds(0),
                       [this, failure = std::move(failure)]() mutable { end(std::move(failure)); });
}

void LoopTransfer::pause() {
  if (!added_) return;
  resume_timer_.cancel();
  curl_transfer_->set_paused(true);
  curl_easy_pause(curl_transfer_->handle(), CURLPAUSE_RECV);
}

void LoopTransfer::resume() {
  if (!added_) return;
  // libcurl passes kept bytes to the sink at once, so resuming must wait for the next iteration.
  resume_timer_ = loop_.after(Milliseconds(0), [this] {
    curl_transfer_->set_paused(false);
    const CURLcode code = curl_easy_pause(curl_transfer_->handle(), CURLPAUSE_CONT);
    if (code != CURLE_OK) return end(curl_transfer_->finish(code));
    set_timer();
  });
}

template <class T>
T LoopTransfer::after_sink(T result) {
  if (!std::exchange(check_pending_, true)) loop_.curl_->to_check.push_back(this);
  return result;
}

void LoopTransfer::check() {
  check_pending_ = false;
  if (curl_transfer_->is_complete(SteadyClock::now())) return end(std::nullopt);
  const auto next = curl_transfer_->next_timeout();
  if (next && *next < timer_at_) set_timer();
}

// Every byte postpones the idle timeout. It would be slow to reset the timer each time, so a timer
// that fires too early is set again.
void LoopTransfer::set_timer() {
  const auto next = curl_transfer_->next_timeout();
  timer_.cancel();
  timer_at_ = next.value_or(EventLoop::Time::max());
  if (!next) return;
  timer_ = loop_.at(*next, [this] {
    const auto now = SteadyClock::now();
    if (curl_transfer_->is_complete(now)) return end(std::nullopt);
    if (auto failure = curl_transfer_->expired(now)) return end(std::move(failure));
    set_timer();
  });
}

void LoopTransfer::stop() {
  timer_.cancel();
  resume_timer_.cancel();
  if (check_pending_) std::erase(loop_.curl_->to_check, this);
  check_pending_ = false;
  if (std::exchange(added_, false))
    curl_multi_remove_handle(loop_.curl_->handle(), curl_transfer_->handle());
}

void LoopTransfer::end(std::optional<TransferFailure> failure) {
  stop();
  const CompletionCallback done = std::move(done_);
  done(std::move(failure));  // the call may destroy this object
}

EventLoop::EventLoop() {
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = 0;
  ::epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event);
}

// Initialising libcurl takes about a millisecond, so it is delayed until the first transfer.
EventLoop::Curl& EventLoop::curl() {
  if (curl_) return *curl_;
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
  curl_ = std::make_unique<Curl>();
  CURLM* const multi = curl_->handle();
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, &Curl::on_socket);
  curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, &Curl::on_timer);
  curl_multi_setopt(multi, CURLMOPT_TIMERDATA, this);
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, kMaxConnections);
  return *curl_;
}

EventLoop::~EventLoop() {
  // Tasks may own timers and watches of this loop, so they are destroyed first.
  std::exchange(posted_, {}).clear();
  std::exchange(deferred_, {}).clear();
  std::exchange(timers_, {}).clear();
  if (curl_) curl_->multi.reset();  // destroying this handle calls the callbacks
  curl_.reset();
  ::close(wake_);
  ::close(epoll_);
}

void EventLoop::post(Task task) {
  const std::lock_guard lock(mutex_);
  posted_.push_back(std::move(task));
  if (posted_.size() == 1) notify(wake_);
}

EventLoop::Timer EventLoop::at(Time time, Task task) {
  const Timer::Key key{time, ++last_id_};
  timers_.emplace(key, std::move(task));
  return {this, key};
}

EventLoop::Timer EventLoop::after(Milliseconds delay, Task task) {
  return at(SteadyClock::now() + delay, std::move(task));
}

std::unique_ptr<Transfer> EventLoop::start_transfer(const HttpRequest& request, BodySink& sink,
                                                    CompletionCallback done) {
  auto transfer = std::make_unique<LoopTransfer>(*this, sink, std::move(done));
  transfer->begin(request);
  return transfer;
}

EventLoop::Watch& EventLoop::Watch::operator=(Watch&& other) noexcept {
  if (this != &other) {
    cancel();
    loop_ = std::exchange(other.loop_, nullptr);
    fd_ = other.fd_;
    id_ = other.id_;
  }
  return *this;
}

void EventLoop::Watch::set_interest(bool reading, bool writing) {
  if (loop_ == nullptr) return;
  epoll_event event{};
  event.data.u64 = id_;
  if (reading) event.events |= EPOLLIN | EPOLLRDHUP;
  if (writing) event.events |= EPOLLOUT;
  ::epoll_ctl(loop_->epoll_, EPOLL_CTL_MOD, fd_, &event);
}

void EventLoop::Watch::cancel() {
  EventLoop* const loop = std::exchange(loop_, nullptr);
  if (loop == nullptr) return;
  ::epoll_ctl(loop->epoll_, EPOLL_CTL_DEL, fd_, nullptr);
  loop->watches_.erase(id_);
}

EventLoop::Watch EventLoop::watch(int fd, std::function<void(Readiness)> ready) {
  const uint64_t id = ++last_id_;
  epoll_event event{};
  event.data.u64 = id;
  ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
  watches_.emplace(id, std::make_shared<std::function<void(Readiness)>>(std::move(ready)));
  return {this, fd, id};
}

void EventLoop::defer(Task task) { deferred_.push_back(std::move(task)); }

void EventLoop::run_posted() {
  std::vector<Task> tasks;
  {
    const std::lock_guard lock(mutex_);
    tasks = std::exchange(posted_, {});
  }
  for (const Task& task : tasks) task();
}

// Runs the timers that are due. Timers set meanwhile wait for the next iteration.
void EventLoop::run_timers() {
  const auto now = SteadyClock::now();
  const uint64_t newest = last_id_;
  for (auto it = timers_.begin(); it != timers_.end() && it->first.first <= now;) {
    if (it->first.second > newest) {
      ++it;
      continue;
    }
    const auto due = it->first;
    const Task task = std::move(it->second);
    timers_.erase(it);
    task();
    it = timers_.upper_bound(due);
  }
}

void EventLoop::run_once() {
  int max_wait = kMaxWaitMs;
  if (!timers_.empty()) {
    const auto left = timers_.begin()->first.first - SteadyClock::now();
    const auto ms = std::chrono::ceil<Milliseconds>(left).count();
    max_wait = static_cast<int>(std::clamp<decltype(ms)>(ms, 0, kMaxWaitMs));
  }
  if (!deferred_.empty()) max_wait = 0;
  std::array<epoll_event, 128> events;
  const int count = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), max_wait);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<size_t>(i)];
    const bool broken = (event.events & (EPOLLERR | EPOLLHUP)) != 0;
    if (event.data.u64 & kCurlSocket) {
      int what = broken ? CURL_CSELECT_ERR : 0;
      if (event.events & EPOLLIN) what |= CURL_CSELECT_IN;
      if (event.events & EPOLLOUT) what |= CURL_CSELECT_OUT;
      curl_->on_socket_event(static_cast<curl_socket_t>(event.data.u64 & ~kCurlSocket), what);
    } else if (event.data.u64 == 0) {
      uint64_t count_read = 0;
      [[maybe_unused]] const ssize_t got = ::read(wake_, &count_read, sizeof count_read);
    } else if (const auto found = watches_.find(event.data.u64); found != watches_.end()) {
      const auto ready = found->second;  // a copy, because the callback may cancel its own watch
      (*ready)(
          {broken || (event.events & (EPOLLIN | EPOLLRDHUP)) != 0, (event.events & EPOLLOUT) != 0});
    }
  }
  if (curl_) curl_->process_transfers();
  run_posted();
  run_timers();
  if (curl_) curl_->process_transfers();
  while (!deferred_.empty())
    for (const Task& task : std::exchange(deferred_, {})) task();
}

void EventLoop::run_until(const std::function<bool()>& over, const std::stop_token& stop) {
  const std::stop_callback wake(stop, [this] { post([] {}); });
  while (!over() && !stop.stop_requested()) run_once();
}

void EventLoopPool::Return::operator()(EventLoop* used) const {
  std::unique_ptr<EventLoop> loop(used);
  if (!loop->works()) return;
  const std::lock_guard lock(pool->mutex_);
  if (pool->idle_.size() < kMaxIdleLoops) pool->idle_.push_back(std::move(loop));
}

EventLoopPool::Handle EventLoopPool::acquire() {
  std::unique_ptr<EventLoop> loop;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      loop = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!loop) loop = std::make_unique<EventLoop>();
  return Handle(loop.release(), Return{this});
}

}  // namespace stoka::net
