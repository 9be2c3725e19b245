#include "serve/job.h"

#include <utility>

namespace stoka::serve {

void Job::start(Workers& workers, Work work) {
  auto self = shared_from_this();
  const bool taken = workers.post([self, work = std::move(work)](std::chrono::nanoseconds) {
    auto result = work(self->stop_.get_token());
    self->house_.loop.post(
        [self, result = std::move(result)]() mutable { self->answer(std::move(result)); });
  });
  if (!taken) answer(fail(too_busy()));
}

void Job::answer(Result<Response> result) {
  if (std::exchange(over_, true)) return;
  if (result)
    visit_->respond(std::move(*result));
  else
    visit_->fail(result.error());
}

void Job::left() {
  if (std::exchange(over_, true)) return;
  stop_.request_stop();
  visit_->left();
}

void Job::shut_down() {
  if (over_) return;
  stop_.request_stop();
  answer(fail(ErrorKind::unavailable, "the server is shutting down", "ask again"));
}

}  // namespace stoka::serve
