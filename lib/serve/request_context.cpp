#include "serve/request_context.h"

#include <fmt/format.h>

#include <utility>

#include "serve/http.h"

namespace stoka::serve {
namespace {

constexpr int kClientClosedRequest = 499;

}  // namespace

Error busy_error() {
  return {ErrorKind::busy, "the server is busy: too many requests are waiting",
          "try again in a moment"};
}

Error public_error(const Error& error) {
  switch (error.kind) {
    case ErrorKind::usage:
    case ErrorKind::not_found:
      return error;
    case ErrorKind::busy:
      return {error.kind, "there are too many requests right now", "try again in a moment"};
    case ErrorKind::unavailable:
    case ErrorKind::timeout:
    case ErrorKind::protocol:
      return {error.kind, "the answering service is not available right now",
              "try again in a moment"};
    case ErrorKind::cancelled:
      return {error.kind, "stopped", {}};
    default:
      return {error.kind, "the server cannot answer", "the server's log says why"};
  }
}

RequestContext::RequestContext(ServerContext& server, ResponseWriter& writer,
                               const HttpRequest& request, std::string_view route, UuidSource& ids,
                               Headers headers)
    : server_(server),
      writer_(writer),
      method_(request.method),
      route_(route),
      headers_(std::move(headers)),
      request_id_(serve::request_id(request.header("x-request-id"), ids)),
      trace_(trace_context(request.header("traceparent"), ids)) {
  headers_.emplace_back("X-Request-Id", request_id_);
  headers_.emplace_back("X-Content-Type-Options", "nosniff");
}

RequestContext::~RequestContext() {
  if (status_ == 0) client_left();
}

void RequestContext::add_header(std::string_view name, std::string value) {
  headers_.emplace_back(name, std::move(value));
}

void RequestContext::respond(HttpResponse response) {
  if (status_ != 0) return;
  response.headers.insert(response.headers.end(), headers_.begin(), headers_.end());
  const int status = response.status;
  writer_.respond(std::move(response));
  record(status, {}, {});
}

void RequestContext::fail(const Error& error, std::string_view field, int status) {
  if (status_ != 0) return;
  // If the caller gives a status, the client may see the message of the error.
  const Error shown = status == 0 ? public_error(error) : error;
  if (status == 0) status = http_status(error.kind);
  HttpResponse response;
  response.status = status;
  response.content_type = "application/problem+json";
  response.body = problem_details_json(status, shown, field, request_id_);
  if (const auto seconds = status == 429 ? std::nullopt : retry_after(error))
    response.headers.emplace_back("Retry-After", std::to_string(seconds->count()));
  response.headers.insert(response.headers.end(), headers_.begin(), headers_.end());
  writer_.respond(std::move(response));
  record(status, {}, error.hint.empty() ? error.message : error.message + ". " + error.hint);
}

void RequestContext::begin_stream() {
  HttpResponse head;
  head.content_type = "text/event-stream";
  head.headers = {{"Cache-Control", "no-cache"}, {"X-Accel-Buffering", "no"}};
  head.headers.insert(head.headers.end(), headers_.begin(), headers_.end());
  writer_.begin_stream(std::move(head));
  server_.metrics.open_streams.add(1);
  status_ = 200;
}

void RequestContext::end_stream(Metrics::StreamEnd end, std::string_view detail,
                                const cite::Interventions* interventions) {
  constexpr std::string_view kNames[] = {"done", "error", "left"};
  server_.metrics.open_streams.add(-1);
  server_.metrics.streams(end).add();
  record(200, kNames[static_cast<size_t>(end)], detail, interventions);
}

void RequestContext::client_left() {
  if (status_ == 0) record(kClientClosedRequest, {}, {});
}

void RequestContext::record(int status, std::string_view end, std::string_view detail,
                            const cite::Interventions* interventions) {
  status_ = status;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start_;
  server_.metrics.requests(route_, status).add();
  server_.metrics.request_seconds(route_).observe(took.count());
  server_.log.log_request({request_id_, trace_.trace_id, trace_.span_id, method_, route_, status,
                           end, took.count() * 1000, detail, query_, interventions});
}

bool WorkerResponse::start(WorkerPool& workers, Work work) {
  auto self = shared_from_this();
  const bool taken = workers.post([self, work = std::move(work)](std::chrono::nanoseconds) {
    auto result = work(self->stop_.get_token());
    self->server_.loop.post(
        [self, result = std::move(result)]() mutable { self->respond(std::move(result)); });
  });
  if (!taken) respond(fail(busy_error()));
  return taken;
}

void WorkerResponse::respond(Result<HttpResponse> result) {
  if (std::exchange(finished_, true)) return;
  if (result)
    context_->respond(std::move(*result));
  else
    context_->fail(result.error());
}

void WorkerResponse::on_disconnect() {
  if (std::exchange(finished_, true)) return;
  stop_.request_stop();
  context_->client_left();
}

void WorkerResponse::on_shutdown() {
  if (finished_) return;
  stop_.request_stop();
  respond(fail(ErrorKind::unavailable, "the server is shutting down", "ask again"));
}

}  // namespace stoka::serve
