// What all requests of one server share; the context of one request, with its ids, headers and
// entry in the access log; and responses that are made by worker threads.
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "net/event_loop.h"
#include "pipeline/engine.h"
#include "serve/access_log.h"
#include "serve/commit_queue.h"
#include "serve/handler.h"
#include "serve/metrics.h"
#include "serve/trace_context.h"
#include "serve/worker_pool.h"

namespace stoka::serve {

// The parts of a server that its responses use.
struct ServerContext {
  pipeline::Engine& engine;
  net::EventLoop& loop;
  WorkerPool& quick;  // threads for jobs that only read or write the store
  WorkerPool& slow;   // threads for jobs that may wait for a model server
  CommitQueue& commits;
  Metrics& metrics;
  AccessLog& log;
  std::chrono::milliseconds ping_interval{15000};  // how often an idle stream gets a comment
};

// A request that has waited longer than this for a worker is refused with busy_error().
inline constexpr std::chrono::seconds kMaxQueueWait{10};
Error busy_error();

// The form of an error that a client may see. It says nothing about the inside of the server; the
// log has the original.
Error public_error(const Error& error);

// Calls a function that returns a Result, and turns an exception into an error.
template <class Function>
auto catch_exceptions(const Function& function) -> decltype(function()) {
  try {
    return function();
  } catch (const std::exception& thrown) {
    return stoka::fail(ErrorKind::internal, thrown.what());
  }
}

// One request from its head to the end of its response. The object is used only on the thread of
// the loop.
class RequestContext {
 public:
  using Headers = std::vector<std::pair<std::string_view, std::string>>;

  // Every response to this request gets `headers` and X-Request-Id.
  RequestContext(ServerContext& server, ResponseWriter& writer, const HttpRequest& request,
                 std::string_view route, UuidSource& ids, Headers headers);
  ~RequestContext();
  RequestContext(const RequestContext&) = delete;
  RequestContext& operator=(const RequestContext&) = delete;

  // Adds a header to the response, whose head must not have been sent yet.
  void add_header(std::string_view name, std::string value);

  // Exactly one of the next four functions is called. After any but begin_stream() the
  // ResponseWriter must not be used any more.
  void respond(HttpResponse response);
  // Responds with problem details. A status other than 0 means that `error` is meant for the
  // client; otherwise public_error() is sent.
  void fail(const Error& error, std::string_view field = {}, int status = 0);
  void begin_stream();
  void client_left();

  // Called once after begin_stream(). `detail` and the interventions are logged.
  void end_stream(Metrics::StreamEnd end, std::string_view detail = {},
                  const cite::Interventions* interventions = nullptr);

  void set_query(std::string query) { query_ = std::move(query); }
  std::chrono::steady_clock::time_point start() const { return start_; }

 private:
  friend class Site;
  void record(int status, std::string_view end, std::string_view detail,
              const cite::Interventions* interventions = nullptr);

  ServerContext& server_;
  ResponseWriter& writer_;
  const std::string method_;
  const std::string_view route_;
  Headers headers_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::string request_id_;
  TraceContext trace_;
  std::string query_;
  int status_ = 0;  // the status of the response; 0 while there is none
};

// A response that a worker thread makes as a whole.
class WorkerResponse final : public PendingResponse,
                             public std::enable_shared_from_this<WorkerResponse> {
 public:
  // Makes the response on a worker thread. A stop is requested when the client disconnects.
  using Work = std::function<Result<HttpResponse>(std::stop_token stop)>;

  WorkerResponse(ServerContext& server, std::unique_ptr<RequestContext> context)
      : server_(server), context_(std::move(context)) {}

  // Responds with busy_error() at once if the queue of the workers is full.
  // Returns whether the work was queued.
  bool start(WorkerPool& workers, Work work);

  void on_disconnect() override;
  void on_shutdown() override;

 private:
  void respond(Result<HttpResponse> result);

  ServerContext& server_;
  std::unique_ptr<RequestContext> context_;
  std::stop_source stop_;
  bool finished_ = false;
};

}  // namespace stoka::serve
