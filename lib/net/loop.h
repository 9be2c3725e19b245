// What a thread does while it waits: exchanges with servers, sockets, timers, and work that other
// threads hand over. One thread drives a loop.
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

// All members but post() belong to the thread that drives the loop. Nothing that is called back is
// called from within the call that asked for it.
class Loop {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Work = std::function<void()>;

  // Destroyed: it does not ring. Must not outlive the loop.
  class Timer {
   public:
    Timer() = default;
    Timer(Timer&& other) noexcept { *this = std::move(other); }
    Timer& operator=(Timer&& other) noexcept;
    ~Timer() { cancel(); }
    void cancel();

   private:
    friend class Loop;
    using Key = std::pair<Time, uint64_t>;
    Timer(Loop* loop, Key key) : loop_(loop), key_(key) {}
    Loop* loop_ = nullptr;
    Key key_{};
  };

  // A descriptor that is looked after; it must be open as long as this lives. Destroyed: not any
  // more.
  class Watch {
   public:
    Watch() = default;
    Watch(Watch&& other) noexcept { *this = std::move(other); }
    Watch& operator=(Watch&& other) noexcept;
    ~Watch() { cancel(); }
    void want(bool reading, bool writing);
    void cancel();

   private:
    friend class Loop;
    Watch(Loop* loop, int fd, uint64_t id) : loop_(loop), fd_(fd), id_(id) {}
    Loop* loop_ = nullptr;
    int fd_ = -1;
    uint64_t id_ = 0;
  };
  struct Ready {
    bool readable = false;  // or closed by the other side, or broken
    bool writable = false;
  };

  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void post(Work work);  // any thread; done in order
  void soon(Work work);  // at the end of this round
  Timer at(Time time, Work work);
  Timer after(Milliseconds delay, Work work);

  // Calls as long as what is wanted is so; nothing is wanted yet.
  Watch watch(int fd, std::function<void(Ready)> ready);

  // An exchange with a server. Request and listener must outlive the transfer.
  std::unique_ptr<Transfer> carry(const Request& request, Listener& listener, Done done);

  // Blocks: waits and runs until `over` says so or a stop is asked for, whichever is first.
  void drive(const std::function<bool()>& over, const std::stop_token& stop);

 private:
  struct Curl;
  friend class Carried;
  friend class Loops;
  // False when there were no descriptors left to make it: exchanges fail, timers ring.
  bool works() const { return epoll_ >= 0 && wake_ >= 0; }
  void round();
  void call_posted();
  void ring_timers();

  std::unique_ptr<Curl> curl_;
  int epoll_ = -1;
  int wake_ = -1;      // an eventfd
  uint64_t made_ = 0;  // timers and watches
  std::map<Timer::Key, Work> timers_;
  std::unordered_map<uint64_t, std::shared_ptr<std::function<void(Ready)>>> watches_;
  std::vector<Work> soon_;
  std::mutex mutex_;  // of what follows
  std::vector<Work> posted_;
};

// Loops with the connections they keep, for callers that wait. Threads: any.
class Loops {
 public:
  class Lease {
   public:
    Lease(Loops& loops, std::unique_ptr<Loop> loop) : loops_(loops), loop_(std::move(loop)) {}
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease();
    Loop& operator*() const { return *loop_; }
    Loop* operator->() const { return loop_.get(); }

   private:
    Loops& loops_;
    std::unique_ptr<Loop> loop_;
  };

  Lease take();

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Loop>> idle_;
};

}  // namespace stoka::net
