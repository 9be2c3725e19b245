// One HTTP transfer: the request, the sink that receives the response, and the interface of
// transports, which send requests. Implementations: net/http_client.h (network) and net/recording.h
// (recording).
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/secret.h"

namespace stoka::net {

using Milliseconds = std::chrono::milliseconds;

// Timeouts of a request. Zero means no limit.
struct Timeouts {
  Milliseconds connect{5000};
  Milliseconds headers{60000};  // time from the request to the end of the response headers
  Milliseconds first_token{
      120000};  // time from the request until the sink no longer returns `nothing_useful`
  Milliseconds idle{60000};    // time between two pieces of the body, whatever they contain
  Milliseconds total{300000};  // time of the whole transfer
};

struct HttpRequest {
  std::string method = "POST";  // the HTTP method; a GET has no body
  std::string url;
  std::string body;  // a JSON text
  std::string accept = "application/json";
  Secret key;             // sent as "Authorization: Bearer"
  bool use_proxy = true;  // whether to use the proxy that the environment names
  Timeouts timeouts;
  size_t max_body_bytes = 16u << 20;  // a longer response body is a protocol error
  // A recording identifies the transfer by the following members.
  std::string role;      // the role of the server: "embedder", "reranker" or "generator"
  std::string endpoint;  // the endpoint, e.g. "chat/completions"
  std::string subject;   // what the request is about, such as the question; may be empty
};

struct ResponseHead {
  int status = 0;
  std::string content_type;  // the media type in lower case, without parameters
  std::optional<std::chrono::seconds> retry_after;  // seconds to wait; not set for a date
  std::string location = {};  // scheme, host and port of a redirect to another server
  std::optional<int> rate_limit_remaining = {};  // the value of the header RateLimit-Remaining
};

// What a BodySink says after each piece of the body.
enum class BodyProgress {
  nothing_useful,    // nothing useful yet: the first_token timeout keeps running
  content,           // useful content has arrived
  content_complete,  // the content is complete; the response has one more second, and cannot fail
  stop_reading,      // the transfer ends now and succeeds, whatever the server has still to send
};

// Receives a response, on the thread of the event loop that runs the transfer. An error from the
// sink aborts the transfer and becomes the transfer's error.
class BodySink {
 public:
  virtual ~BodySink() = default;
  virtual Result<> head(const ResponseHead& head) = 0;  // called once, before the body
  virtual Result<BodyProgress> body(std::string_view bytes) = 0;
};

// The cause of a failure, if a setting can help: the host name, or a timeout.
enum class FailureCause { other, no_host, connect, headers, first_token, idle, total };

// How a transfer failed. Kinds of error: unavailable (no connection, or it was closed early),
// timeout, protocol (broken HTTP, too large, an invalid certificate), cancelled, or the kind that
// the sink returned.
struct TransferFailure {
  Error error;
  bool connected = false;  // if false, the server never saw the request and a retry is safe
  bool answered = false;   // whether the response headers had arrived
  FailureCause cause = FailureCause::other;
};

class EventLoop;
class EventLoopPool;

// Receives the failure, or nothing when the transfer succeeded.
using CompletionCallback = std::function<void(std::optional<TransferFailure>)>;

// A transfer that is under way on an event loop, owned by the code that started it. Use it on the
// thread of its event loop only. Destroying it closes the connection at once, and no callback is
// called afterwards. It must not be destroyed from within its sink.
class Transfer {
 public:
  virtual ~Transfer() = default;
  // Stops reading, so that the server has to wait. The sink may still get bytes already read.
  virtual void pause() {}
  virtual void resume() {}
};

// Sends requests. Redirects are not followed: the sink gets their headers. Any thread may call
// perform(), but only the thread of the loop may call start().
class Transport {
 public:
  Transport();
  virtual ~Transport();
  // Calls `done` once, in a later iteration of the loop; `done` may destroy the transfer. The
  // request and the sink must outlive the transfer.
  virtual std::unique_ptr<Transfer> start(EventLoop& loop, const HttpRequest& request,
                                          BodySink& sink, CompletionCallback done) = 0;
  // Blocks until the transfer is over; the sink is called on this thread. A stop request ends the
  // transfer within 100 ms.
  virtual std::optional<TransferFailure> perform(const HttpRequest& request, BodySink& sink,
                                                 std::stop_token stop);
  // A source of event loops for callers that block.
  EventLoopPool& loops() { return *loops_; }

 private:
  std::unique_ptr<EventLoopPool> loops_;
};

// A transport whose responses are available without waiting. Subclasses implement perform() only.
class SynchronousTransport : public Transport {
 public:
  std::unique_ptr<Transfer> start(EventLoop& loop, const HttpRequest& request, BodySink& sink,
                                  CompletionCallback done) override;
  std::optional<TransferFailure> perform(const HttpRequest& request, BodySink& sink,
                                         std::stop_token stop) override = 0;
};

}  // namespace stoka::net
