// One server that stoka asks: its address and key, and the manners of asking it: places, deadlines,
// careful retries, a breaker.
//
// For the breaker a call has failed that got no connection, broke off, ran into a deadline or heard
// nonsense, or was answered by 502, 504 or a 503 without Retry-After. Other answers show that the
// server lives: 4xx, and 500 too, with which some servers answer one bad input; so does one that
// its listener objects to, unless as unavailable. A call that was stopped says nothing, and neither
// does one whose own total ran out while the answer was coming.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <string_view>

#include "base/gate.h"
#include "base/log.h"
#include "net/base_url.h"
#include "net/breaker.h"
#include "net/transport.h"

namespace stoka::net {

struct UpstreamOptions {
  std::string role;  // "embedder", "reranker", "generator": named in errors and recordings
  BaseUrl url;
  Secret key = {};
  Deadlines deadlines = {};
  int retries = 1;  // after a refused connection, 429, 502, 503 or 504
  GateOptions gate = {};
  BreakerOptions breaker = {};
};

struct Answer {
  int status = 0;
  std::string content_type;
  std::string body;  // of a stream that was accepted: empty, the listener has it
  std::optional<std::chrono::seconds> retry_after = {};
  std::optional<int> requests_left = {};  // before the server's limit refuses more
  bool ok() const { return status >= 200 && status < 300; }
};

struct Call {
  std::string_view name;     // of the endpoint: "embed", "chat/completions"
  std::string body;          // JSON; empty: a GET
  std::string subject = {};  // for recordings
  // Instead of the options' total deadline, when not zero.
  Milliseconds total{0};
  std::string_view total_setting = "timeout";  // where the total comes from; empty: no setting
};

// A call that is under way on a loop; see Upstream::start().
class Asking;

// Threads: any. The transport and the log must outlive it.
class Upstream {
 public:
  Upstream(UpstreamOptions options, Transport& transport, Log& log);

  using Answered = std::function<void(Result<Answer>)>;

  // Asks on a loop, and calls `answered` on its thread, once and from a later round; that may
  // destroy the call. Destroyed before, it is over at once and nobody is called. With a listener
  // it is stream(), without one it is call(). A place is waited for in line with those who block.
  std::unique_ptr<Asking> start(Loop& loop, Call call, Listener* listener, Answered answered);

  // The whole answer, whatever its status: 400, 413, 422 and their like are for the caller to
  // interpret. Of one that is not ok the first 64 KB. Errors: unavailable, timeout, protocol (a
  // redirect, too large), busy (no place in time), cancelled. An error names role and address.
  Result<Answer> call(const Call& call, std::stop_token stop);

  // The listener hears head and body of a 2xx answer only; another answer is returned whole, like
  // that of call(). Nothing is retried once the listener has heard the head.
  Result<Answer> stream(const Call& call, Listener& listener, std::stop_token stop);

  // What an answer that is not ok means, as an error with what to do next: 401 and 403 the key, 402
  // the account, 404 the address, 429 and 503 later, others what the server said. The key is not in
  // it.
  Error refusal(const Answer& answer) const;
  // A protocol error that names role and address: "embedder at http://…: WHAT".
  Error nonsense(std::string_view what) const;

  std::string who() const;                          // "embedder at http://localhost:8072"
  std::string setting(std::string_view key) const;  // "embedder.url (STOKA_EMBED_URL)"
  const UpstreamOptions& options() const { return options_; }
  const Gate& gate() const { return gate_; }
  // Told of every call that failed: no answer, or one that says 429 or 5xx. On the caller's thread;
  // to be set before the first call.
  void on_failure(std::function<void(ErrorKind)> told) { on_failure_ = std::move(told); }
  Loops& loops() { return transport_.loops(); }

 private:
  friend class Asking;
  class Ear;  // hears one attempt
  Result<Answer> ask(const Call& call, Listener* listener, std::stop_token stop);
  Request request(Call& call, bool stream) const;  // takes its body
  // How long to wait before the next attempt; nothing: that was the last one.
  std::optional<Milliseconds> pause(const std::optional<Failure>& failure, const Ear& ear,
                                    int attempt, Milliseconds left);
  void report(const std::optional<Failure>& failure, const Ear& ear, bool out_of_total);
  void tell(const Result<Answer>& result) const;

  Error named(const Failure& failure, const Ear& ear, std::string_view total_setting) const;
  std::string hint(const Failure& failure, std::string_view total_setting) const;
  std::string deadline_setting(Cause cause, std::string_view total_setting) const;
  Error resting(Milliseconds left) const;

  UpstreamOptions options_;
  Transport& transport_;
  Log& log_;
  Gate gate_;
  Breaker breaker_;
  std::function<void(ErrorKind)> on_failure_;
  std::mutex mutex_;  // of random_
  std::minstd_rand random_;
};

// Not thread safe: it lives on the thread of its loop.
class Asking {
 public:
  ~Asking();
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

  // For an answer that is heard: no more is read until resume(), and the server has to wait.
  void pause();
  void resume();

 private:
  friend class Upstream;
  Asking(Upstream& upstream, Loop& loop, Call call, Listener* listener,
         Upstream::Answered answered);
  void begin();
  void enter();
  void attempt();
  void attempted(std::optional<Failure> failure);
  void finish(Result<Answer> result);
  Milliseconds left() const;

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stoka::net
