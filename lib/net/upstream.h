// A model server and the rules for calling it: limits on concurrency, timeouts, retries, and a
// circuit breaker.
//
// What counts for the circuit breaker:
// - A failure is a call without a connection, with a connection that was closed early, with a
//   timeout or with broken HTTP, and an answer with 502, 504, or 503 without Retry-After.
// - Any other status is a success, because the server is alive. That includes 4xx, and 500, with
//   which some servers answer one bad input. An error from the caller's sink is a success too,
//   unless its kind is unavailable.
// - A cancelled call does not count, nor does one whose own total timeout (Call::timeout) passed
//   while the response was arriving.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/semaphore.h"
#include "net/base_url.h"
#include "net/circuit_breaker.h"
#include "net/transport.h"

namespace stoka::net {

// A setting of the application, for the hints of errors.
struct SettingName {
  std::string key;       // the name of the setting, e.g. "embedder.url"
  std::string variable;  // an environment variable, e.g. "STOKA_EMBED_URL"; may be empty
};

struct UpstreamOptions {
  std::string role;  // "embedder", "reranker" or "generator", as named in errors and recordings
  BaseUrl url;
  Secret key = {};
  Timeouts timeouts = {};
  int retries = 1;  // how often to retry after a failed connection or status 429, 502, 503 or 504
  SemaphoreOptions semaphore = {};
  CircuitBreakerOptions breaker = {};
  // The settings that hints may name, by short names such as "url", "model" and "timeout".
  std::map<std::string, SettingName, std::less<>> settings = {};
};

struct HttpResponse {
  int status = 0;
  std::string content_type;
  std::string body;  // the response body; empty if a sink has received it
  std::optional<std::chrono::seconds> retry_after = {};
  std::optional<int> rate_limit_remaining = {};  // requests left in the server's rate limit
  bool ok() const { return status >= 200 && status < 300; }
};

// Whether the response says that the input is longer than the server or its model accepts: 413, or
// a 400, 422 or 500 whose message is about length.
bool is_input_too_long(const HttpResponse& answer);

struct Call {
  std::string_view endpoint;  // the endpoint, e.g. "embed" or "chat/completions"
  std::string body;           // a JSON text; a call without a body is a GET
  std::string subject = {};   // what the call is about, as stored in recordings
  // Unless zero, this replaces the total timeout of the options.
  Milliseconds timeout{0};
  std::string_view timeout_setting =
      "timeout";  // the short name of the setting of the timeout; empty if there is none
};

class PendingCall;

// A model server; any thread may use it. The transport and the log must outlive this object.
class Upstream {
 public:
  Upstream(UpstreamOptions options, Transport& transport, Log& log);

  using ResponseCallback = std::function<void(Result<HttpResponse>)>;

  // Starts a call on an event loop. `answered` is called once, on the loop's thread and in a later
  // iteration; it may destroy the call. Destroying the call earlier cancels it without a callback.
  // With a sink, the headers and the body of a 2xx response go to the sink, and nothing is retried
  // once it has received the headers; in all other respects start() is like call(). Calls on a loop
  // and callers that block wait for a permit in the same queue.
  std::unique_ptr<PendingCall> start(EventLoop& loop, Call call, BodySink* sink,
                                     ResponseCallback answered);

  // Blocks and returns the whole response, whatever its status: the caller interprets 400, 413, 422
  // and the like. At most 64 KB of an error response are kept. Errors name role and address. Their
  // kinds: unavailable, timeout, protocol (a redirect, or too large), busy (no permit in time),
  // cancelled.
  Result<HttpResponse> call(const Call& call, std::stop_token stop);

  // The error that a response with an error status stands for, with a hint on what to do: 401 and
  // 403 are about the key, 402 about the account, 404 about the address, 429 and 503 ask for
  // patience, and others repeat the server's message. The error never contains the key.
  Error status_error(const HttpResponse& answer) const;
  // A protocol error that names role and address: "embedder at http://…: WHAT".
  Error protocol_error(std::string_view what) const;

  std::string description() const;  // such as "embedder at http://localhost:8072"
  // The name of a setting for hints, found by its short name: "embedder.url", or the role and the
  // short name if the options do not have the setting.
  std::string setting_key(std::string_view name) const;
  // A setting's name: "embedder.url (STOKA_EMBED_URL)", with a value "embedder.kind = tei (…)".
  std::string setting_name(std::string_view name, std::string_view value = {}) const;
  const UpstreamOptions& options() const { return options_; }
  const Semaphore& semaphore() const { return semaphore_; }
  // Sets a callback for every call that fails without a response, or with 429 or 5xx. The callback
  // runs on the thread of the call. Set it before the first call.
  void on_failure(std::function<void(ErrorKind)> callback) { on_failure_ = std::move(callback); }

 private:
  friend class PendingCall;
  class AttemptSink;
  HttpRequest request(Call& call, bool stream) const;  // moves the body out of the call
  // How long to wait before the next attempt; nothing if there is to be no other attempt.
  std::optional<Milliseconds> retry_delay(const std::optional<TransferFailure>& failure,
                                          const AttemptSink& sink, int attempt, Milliseconds left);
  void report_to_breaker(const std::optional<TransferFailure>& failure, const AttemptSink& sink,
                         bool own_timeout_passed);
  void report_failure(const Result<HttpResponse>& result) const;

  Error describe(const TransferFailure& failure, const AttemptSink& sink,
                 std::string_view total_setting) const;
  std::string hint(const TransferFailure& failure, std::string_view total_setting) const;
  std::string timeout_setting(FailureCause cause, std::string_view total_setting) const;
  Error breaker_open(Milliseconds left) const;

  UpstreamOptions options_;
  Transport& transport_;
  Log& log_;
  Semaphore semaphore_;
  CircuitBreaker breaker_;
  std::function<void(ErrorKind)> on_failure_;
  std::mutex mutex_;  // protects the member random_
  std::minstd_rand random_;
};

// A call that is under way on an event loop. Only the thread of the loop may use the call.
class PendingCall {
 public:
  ~PendingCall();
  PendingCall(const PendingCall&) = delete;
  PendingCall& operator=(const PendingCall&) = delete;

  // Stops reading a streamed response until resume(), so that the server has to wait.
  void pause();
  void resume();

 private:
  friend class Upstream;
  PendingCall(Upstream& upstream, EventLoop& loop, Call call, BodySink* sink,
              Upstream::ResponseCallback answered);
  void begin();
  void start_with_permit();
  void attempt();
  void attempt_done(std::optional<TransferFailure> failure);
  void finish(Result<HttpResponse> result);
  Milliseconds left() const;

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stoka::net
