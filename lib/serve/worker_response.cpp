#include "serve/worker_response.h"

#include <utility>

namespace stoka::serve {

void WorkerResponse::start(WorkerPool& workers, Work work) {
  auto self = shared_from_this();
  const bool taken = workers.post([self, work = std::move(work)](std::chrono::nanoseconds) {
    auto result = work(self->stop_.get_token());
    self->server_.loop.post(
        [self, result = std::move(result)]() mutable { self->respond(std::move(result)); });
  });
  if (!taken) respond(fail(busy_error()));
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
