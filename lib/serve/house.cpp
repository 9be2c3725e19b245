#include "serve/house.h"

#include <fmt/format.h>

#include <utility>

#include "serve/problem.h"

namespace stoka::serve {
namespace {

constexpr int kLeft = 499;

}  // namespace

Error too_busy() {
  return {ErrorKind::busy, "the server is busy: too many wait already", "try again in a moment"};
}

Error public_error(const Error& error) {
  switch (error.kind) {
    case ErrorKind::usage:
    case ErrorKind::not_found:
      return error;
    case ErrorKind::busy:
      return {error.kind, "too many are asking right now", "try again in a moment"};
    case ErrorKind::unavailable:
    case ErrorKind::timeout:
    case ErrorKind::protocol:
      return {error.kind, "what answers is not available right now", "try again in a moment"};
    case ErrorKind::cancelled:
      return {error.kind, "stopped", {}};
    default:
      return {error.kind, "the server cannot answer", "its log says why"};
  }
}

Visit::Visit(House& house, Client& client, const Request& request, std::string_view route, Ids& ids,
             Headers headers)
    : house_(house),
      client_(client),
      method_(request.method),
      route_(route),
      headers_(std::move(headers)),
      request_id_(serve::request_id(request.header("x-request-id"), ids)),
      trace_(trace_context(request.header("traceparent"), ids)) {
  headers_.emplace_back("X-Request-Id", request_id_);
  headers_.emplace_back("X-Content-Type-Options", "nosniff");
}

Visit::~Visit() {
  if (status_ == 0) left();
}

void Visit::add_header(std::string_view name, std::string value) {
  headers_.emplace_back(name, std::move(value));
}

void Visit::respond(Response response) {
  if (status_ != 0) return;
  response.headers.insert(response.headers.end(), headers_.begin(), headers_.end());
  const int status = response.status;
  client_.respond(std::move(response));
  over(status, {}, {});
}

void Visit::fail(const Error& error, std::string_view field, int status) {
  if (status_ != 0) return;
  // With a status of its own it is our own words already.
  const Error shown = status == 0 ? public_error(error) : error;
  if (status == 0) status = http_status(error.kind);
  Response response;
  response.status = status;
  response.content_type = "application/problem+json";
  response.body = problem_json(status, shown, field, request_id_);
  if (const auto seconds = status == 429 ? std::nullopt : retry_after(error))
    response.headers.emplace_back("Retry-After", std::to_string(seconds->count()));
  response.headers.insert(response.headers.end(), headers_.begin(), headers_.end());
  client_.respond(std::move(response));
  over(status, {}, error.hint.empty() ? error.message : error.message + ". " + error.hint);
}

void Visit::begin_stream() {
  Response head;
  head.content_type = "text/event-stream";
  head.headers = {{"Cache-Control", "no-cache"}, {"X-Accel-Buffering", "no"}};
  head.headers.insert(head.headers.end(), headers_.begin(), headers_.end());
  client_.begin_stream(std::move(head));
  house_.metrics.open_streams.add(1);
  status_ = 200;
}

void Visit::end_stream(Metrics::End end, std::string_view detail) {
  constexpr std::string_view kNames[] = {"done", "error", "left"};
  house_.metrics.open_streams.add(-1);
  house_.metrics.streams(end).add();
  over(200, kNames[static_cast<size_t>(end)], detail);
}

void Visit::left() {
  if (status_ == 0) over(kLeft, {}, {});
}

void Visit::over(int status, std::string_view end, std::string_view detail) {
  status_ = status;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start_;
  house_.metrics.requests(route_, status).add();
  house_.metrics.request_seconds(route_).observe(took.count());
  house_.journal.visited({request_id_, trace_.trace_id, trace_.span_id, method_, route_, status,
                          end, took.count() * 1000, detail, query_});
}

}  // namespace stoka::serve
