// An event loop: HTTP transfers, sockets, timers, and tasks that other threads post. One thread
// runs it.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <unordered_map>
#include <utility>
#include <vector>

#include "net/transport.h"

namespace stoka::net {

// An event loop. Only post() may be called from other threads; everything else belongs to the
// thread that runs the loop. No function calls its callback before it returns.
class EventLoop {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Task = std::function<void()>;

  // Destroying a timer cancels it. A timer must not outlive the loop.
  class Timer {
   public:
    Timer() = default;
    Timer(Timer&& other) noexcept { *this = std::move(other); }
    Timer& operator=(Timer&& other) noexcept;
    ~Timer() { cancel(); }
    void cancel();

   private:
    friend class EventLoop;
    using Key = std::pair<Time, uint64_t>;
    Timer(EventLoop* loop, Key key) : loop_(loop), key_(key) {}
    EventLoop* loop_ = nullptr;
    Key key_{};
  };

  // Watches a descriptor, which must stay open meanwhile. Destroying a watch cancels it. The watch
  // must not outlive the loop.
  class Watch {
   public:
    Watch() = default;
    Watch(Watch&& other) noexcept { *this = std::move(other); }
    Watch& operator=(Watch&& other) noexcept;
    ~Watch() { cancel(); }
    void set_interest(bool reading, bool writing);
    void cancel();

   private:
    friend class EventLoop;
    Watch(EventLoop* loop, int fd, uint64_t id) : loop_(loop), fd_(fd), id_(id) {}
    EventLoop* loop_ = nullptr;
    int fd_ = -1;
    uint64_t id_ = 0;
  };
  struct Readiness {
    bool readable = false;  // the descriptor has data, or its connection was closed or failed
    bool writable = false;
  };

  EventLoop();
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  void post(Task task);   // callable from any thread; runs tasks in the order of the calls
  void defer(Task task);  // runs the task at the end of this iteration
  Timer at(Time time, Task task);
  Timer after(Milliseconds delay, Task task);

  // Adds a level-triggered watch: `ready` is called in each iteration in which the descriptor is in
  // a state that Watch::set_interest() asked for. Initially no state is asked for.
  Watch watch(int fd, std::function<void(Readiness)> ready);

  // Starts an HTTP transfer over the network. The request and the sink must outlive the transfer.
  std::unique_ptr<Transfer> start_transfer(const HttpRequest& request, BodySink& sink,
                                           CompletionCallback done);

  // Blocks and runs the loop until `over` returns true or a stop is requested.
  void run_until(const std::function<bool()>& over, const std::stop_token& stop);

  // Blocks until some work is over. `start` begins the work, which passes its result to the given
  // callback in a later iteration, and returns an object that owns the work. Returns nothing if a
  // stop is requested earlier; the work is then cancelled by destroying its owner.
  template <class Value, class Start>
  std::optional<Value> run(const Start& start, const std::stop_token& stop) {
    std::optional<Value> result;
    if (stop.stop_requested()) return result;
    [[maybe_unused]] const auto owner =
        start([&result](Value value) { result.emplace(std::move(value)); });
    run_until([&result] { return result.has_value(); }, stop);
    return result;
  }

 private:
  struct Curl;
  friend class LoopTransfer;
  friend class EventLoopPool;
  // Whether the loop got its descriptors. Without them transfers fail, but timers still run.
  bool works() const { return epoll_ >= 0 && wake_ >= 0; }
  void run_once();
  void run_posted();
  void run_timers();
  Curl& curl();

  std::unique_ptr<Curl> curl_;  // created for the first transfer
  int epoll_ = -1;
  int wake_ = -1;         // an eventfd that wakes the loop
  uint64_t last_id_ = 0;  // the last id given to a timer or a watch
  std::map<Timer::Key, Task> timers_;
  std::unordered_map<uint64_t, std::shared_ptr<std::function<void(Readiness)>>> watches_;
  std::vector<Task> deferred_;
  std::mutex mutex_;  // protects posted_
  std::vector<Task> posted_;
};

// Event loops for callers that block. A loop keeps its connections open while it is in the pool.
// Any thread may use the pool.
class EventLoopPool {
 public:
  struct Return {
    EventLoopPool* pool;
    void operator()(EventLoop* loop) const;
  };
  // An event loop that is in use; destroying this returns it to the pool.
  using Handle = std::unique_ptr<EventLoop, Return>;

  Handle acquire();

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<EventLoop>> idle_;
};

}  // namespace stoka::net
