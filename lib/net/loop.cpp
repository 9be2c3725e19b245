#include "net/loop.h"

#include <curl/curl.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <list>
#include <mutex>
#include <utility>

#include "net/exchange.h"

namespace stoka::net {
namespace {

constexpr size_t kMostIdle = 16;        // loops, each with its connections
constexpr long kMostConnections = 512;  // kept open by one loop
// What an event is about: this and a socket of libcurl, zero for the eventfd, else a watch.
constexpr uint64_t kOfCurl = uint64_t{1} << 63;
constexpr int kNoDeadline = 60 * 60 * 1000;

using SteadyClock = std::chrono::steady_clock;

struct MultiCleanup {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};

void ring(int eventfd) {
  const uint64_t one = 1;
  // Full is as good: it is readable.
  [[maybe_unused]] const ssize_t written = ::write(eventfd, &one, sizeof one);
}

}  // namespace

Loop::Timer& Loop::Timer::operator=(Timer&& other) noexcept {
  if (this != &other) {
    cancel();
    loop_ = std::exchange(other.loop_, nullptr);
    key_ = other.key_;
  }
  return *this;
}

void Loop::Timer::cancel() {
  if (Loop* loop = std::exchange(loop_, nullptr)) loop->timers_.erase(key_);
}

// An exchange on its way. Owned by whoever started it; known to the loop as long as it is on.
class Carried final : public Transfer, Listener {
 public:
  Carried(Loop& loop, Listener& listener, Done done)
      : loop_(loop), listener_(listener), done_(std::move(done)) {}
  ~Carried() override { stop(); }
  Carried(const Carried&) = delete;
  Carried& operator=(const Carried&) = delete;

  void begin(const Request& request);
  void pause() override;
  void resume() override;

  // libcurl is done with it.
  void complete(CURLcode code) { end(exchange_->finish(code)); }
  // After something was heard: is that enough, and when is the next deadline?
  void look();

 private:
  Result<> head(const Head& head) override { return heard(listener_.head(head)); }
  Result<Heard> body(std::string_view bytes) override { return heard(listener_.body(bytes)); }
  template <class T>
  T heard(T result);
  void set_deadline();
  void stop();
  void end(std::optional<Failure> failure);

  Loop& loop_;
  Listener& listener_;
  Done done_;
  std::unique_ptr<Exchange> exchange_;
  Loop::Timer timer_;
  Loop::Timer resuming_;
  Loop::Time rings_{};
  bool added_ = false;
  bool touched_ = false;
};

struct Loop::Curl {
  CURLM* handle() const { return multi.get(); }

  static int on_socket(CURL*, curl_socket_t socket, int what, void* self, void*) {
    auto* const loop = static_cast<Loop*>(self);
    if (what == CURL_POLL_REMOVE) {
      ::epoll_ctl(loop->epoll_, EPOLL_CTL_DEL, socket, nullptr);
      return 0;
    }
    epoll_event event{};
    event.data.u64 = kOfCurl | static_cast<uint64_t>(socket);
    if (what & CURL_POLL_IN) event.events |= EPOLLIN;
    if (what & CURL_POLL_OUT) event.events |= EPOLLOUT;
    if (::epoll_ctl(loop->epoll_, EPOLL_CTL_MOD, socket, &event) != 0)
      ::epoll_ctl(loop->epoll_, EPOLL_CTL_ADD, socket, &event);
    return 0;
  }

  static int on_timer(CURLM*, long ms, void* self) {
    auto* const loop = static_cast<Loop*>(self);
    loop->curl_->timer = {};
    if (ms >= 0)
      loop->curl_->timer =
          loop->after(Milliseconds(ms), [loop] { loop->curl_->act(CURL_SOCKET_TIMEOUT, 0); });
    return 0;
  }

  void act(curl_socket_t socket, int events) {
    int running = 0;
    curl_multi_socket_action(handle(), socket, events, &running);
  }

  // Exchanges that are over or that have heard something.
  void settle() {
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(handle(), &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      Carried* carried = nullptr;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &carried);
      carried->complete(message->data.result);
    }
    while (!touched.empty()) {
      Carried* const carried = touched.back();
      touched.pop_back();
      carried->look();
    }
  }

  std::unique_ptr<CURLM, MultiCleanup> multi{curl_multi_init()};
  Timer timer;
  std::vector<Carried*> touched;
};

void Carried::begin(const Request& request) {
  auto exchange = Exchange::begin(request, *this);
  std::optional<Failure> failure;
  if (!loop_.works()) {
    failure = Failure{.error = Error(ErrorKind::busy, "no more descriptors for connections",
                                     "raise the limit (ulimit -n)")};
  } else if (!exchange) {
    failure = Failure{.error = exchange.error()};
  } else {
    exchange_ = std::move(*exchange);
    curl_easy_setopt(exchange_->handle(), CURLOPT_PRIVATE, this);
    added_ = curl_multi_add_handle(loop_.curl_->handle(), exchange_->handle()) == CURLM_OK;
    if (added_) return set_deadline();
    failure = exchange_->failure(Error(ErrorKind::internal, "libcurl does not take the request"));
  }
  timer_ = loop_.after(Milliseconds(0),
                       [this, failure = std::move(failure)]() mutable { end(std::move(failure)); });
}

void Carried::pause() {
  if (!added_) return;
  resuming_.cancel();
  exchange_->set_paused(true);
  curl_easy_pause(exchange_->handle(), CURLPAUSE_RECV);
}

void Carried::resume() {
  if (!added_) return;
  // What it has kept back is heard at once, so that is for the next round.
  resuming_ = loop_.after(Milliseconds(0), [this] {
    exchange_->set_paused(false);
    const CURLcode code = curl_easy_pause(exchange_->handle(), CURLPAUSE_CONT);
    if (code != CURLE_OK) return end(exchange_->finish(code));
    set_deadline();
  });
}

template <class T>
T Carried::heard(T result) {
  if (!std::exchange(touched_, true)) loop_.curl_->touched.push_back(this);
  return result;
}

void Carried::look() {
  touched_ = false;
  if (exchange_->enough(SteadyClock::now())) return end(std::nullopt);
  const auto next = exchange_->next_deadline();
  if (next && *next < rings_) set_deadline();
}

// A deadline that moves away does so with every byte: the timer is set anew when it rings.
void Carried::set_deadline() {
  const auto next = exchange_->next_deadline();
  timer_.cancel();
  rings_ = next.value_or(Loop::Time::max());
  if (!next) return;
  timer_ = loop_.at(*next, [this] {
    const auto now = SteadyClock::now();
    if (exchange_->enough(now)) return end(std::nullopt);
    if (auto failure = exchange_->expired(now)) return end(std::move(failure));
    set_deadline();
  });
}

void Carried::stop() {
  timer_.cancel();
  resuming_.cancel();
  if (touched_) std::erase(loop_.curl_->touched, this);
  touched_ = false;
  if (std::exchange(added_, false))
    curl_multi_remove_handle(loop_.curl_->handle(), exchange_->handle());
}

void Carried::end(std::optional<Failure> failure) {
  stop();
  const Done done = std::move(done_);
  done(std::move(failure));  // may destroy this
}

Loop::Loop() : curl_(std::make_unique<Curl>()) {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = 0;
  ::epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event);
  CURLM* const multi = curl_->handle();
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, &Curl::on_socket);
  curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, &Curl::on_timer);
  curl_multi_setopt(multi, CURLMOPT_TIMERDATA, this);
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, kMostConnections);
}

Loop::~Loop() {
  // What they hold may belong to this loop.
  std::exchange(posted_, {}).clear();
  std::exchange(soon_, {}).clear();
  std::exchange(timers_, {}).clear();
  curl_->multi.reset();  // calls back
  curl_.reset();
  ::close(wake_);
  ::close(epoll_);
}

void Loop::post(Work work) {
  const std::lock_guard lock(mutex_);
  posted_.push_back(std::move(work));
  if (posted_.size() == 1) ring(wake_);
}

Loop::Timer Loop::at(Time time, Work work) {
  const Timer::Key key{time, ++made_};
  timers_.emplace(key, std::move(work));
  return {this, key};
}

Loop::Timer Loop::after(Milliseconds delay, Work work) {
  return at(SteadyClock::now() + delay, std::move(work));
}

std::unique_ptr<Transfer> Loop::carry(const Request& request, Listener& listener, Done done) {
  auto carried = std::make_unique<Carried>(*this, listener, std::move(done));
  carried->begin(request);
  return carried;
}

Loop::Watch& Loop::Watch::operator=(Watch&& other) noexcept {
  if (this != &other) {
    cancel();
    loop_ = std::exchange(other.loop_, nullptr);
    fd_ = other.fd_;
    id_ = other.id_;
  }
  return *this;
}

void Loop::Watch::want(bool reading, bool writing) {
  if (loop_ == nullptr) return;
  epoll_event event{};
  event.data.u64 = id_;
  if (reading) event.events |= EPOLLIN | EPOLLRDHUP;
  if (writing) event.events |= EPOLLOUT;
  ::epoll_ctl(loop_->epoll_, EPOLL_CTL_MOD, fd_, &event);
}

void Loop::Watch::cancel() {
  Loop* const loop = std::exchange(loop_, nullptr);
  if (loop == nullptr) return;
  ::epoll_ctl(loop->epoll_, EPOLL_CTL_DEL, fd_, nullptr);
  loop->watches_.erase(id_);
}

Loop::Watch Loop::watch(int fd, std::function<void(Ready)> ready) {
  const uint64_t id = ++made_;
  epoll_event event{};
  event.data.u64 = id;
  ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
  watches_.emplace(id, std::make_shared<std::function<void(Ready)>>(std::move(ready)));
  return {this, fd, id};
}

void Loop::soon(Work work) { soon_.push_back(std::move(work)); }

void Loop::call_posted() {
  std::vector<Work> works;
  {
    const std::lock_guard lock(mutex_);
    works = std::exchange(posted_, {});
  }
  for (const Work& work : works) work();
}

// Those that are due now; what they set is for the next round.
void Loop::ring_timers() {
  const auto now = SteadyClock::now();
  const uint64_t newest = made_;
  for (auto it = timers_.begin(); it != timers_.end() && it->first.first <= now;) {
    if (it->first.second > newest) {
      ++it;
      continue;
    }
    const auto due = it->first;
    const Work work = std::move(it->second);
    timers_.erase(it);
    work();
    it = timers_.upper_bound(due);
  }
}

void Loop::round() {
  int most = kNoDeadline;
  if (!timers_.empty()) {
    const auto left = timers_.begin()->first.first - SteadyClock::now();
    const auto ms = std::chrono::ceil<Milliseconds>(left).count();
    most = static_cast<int>(std::clamp<decltype(ms)>(ms, 0, kNoDeadline));
  }
  if (!soon_.empty()) most = 0;
  std::array<epoll_event, 128> events;
  const int count = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), most);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<size_t>(i)];
    const bool broken = (event.events & (EPOLLERR | EPOLLHUP)) != 0;
    if (event.data.u64 & kOfCurl) {
      int what = broken ? CURL_CSELECT_ERR : 0;
      if (event.events & EPOLLIN) what |= CURL_CSELECT_IN;
      if (event.events & EPOLLOUT) what |= CURL_CSELECT_OUT;
      curl_->act(static_cast<curl_socket_t>(event.data.u64 & ~kOfCurl), what);
    } else if (event.data.u64 == 0) {
      uint64_t rung = 0;
      [[maybe_unused]] const ssize_t got = ::read(wake_, &rung, sizeof rung);
    } else if (const auto found = watches_.find(event.data.u64); found != watches_.end()) {
      const auto ready = found->second;  // which may cancel itself
      (*ready)(
          {broken || (event.events & (EPOLLIN | EPOLLRDHUP)) != 0, (event.events & EPOLLOUT) != 0});
    }
  }
  curl_->settle();
  call_posted();
  ring_timers();
  curl_->settle();
  while (!soon_.empty())
    for (const Work& work : std::exchange(soon_, {})) work();
}

void Loop::drive(const std::function<bool()>& over, const std::stop_token& stop) {
  const std::stop_callback wake(stop, [this] { post([] {}); });
  while (!over() && !stop.stop_requested()) round();
}

Loops::Lease::~Lease() {
  if (!loop_->works()) return;
  const std::lock_guard lock(loops_.mutex_);
  if (loops_.idle_.size() < kMostIdle) loops_.idle_.push_back(std::move(loop_));
}

Loops::Lease Loops::take() {
  std::unique_ptr<Loop> loop;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      loop = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!loop) loop = std::make_unique<Loop>();
  return {*this, std::move(loop)};
}

}  // namespace stoka::net
