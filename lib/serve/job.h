// An answer that a worker makes, whole.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>

#include "serve/handler.h"
#include "serve/house.h"

namespace stoka::serve {

class Job final : public Pending, public std::enable_shared_from_this<Job> {
 public:
  // On the worker's thread; the stop is that of a client who left.
  using Work = std::function<Result<Response>(std::stop_token stop)>;

  Job(House& house, std::unique_ptr<Visit> visit) : house_(house), visit_(std::move(visit)) {}

  // Answers at once if too many wait already.
  void start(Workers& workers, Work work);

  void left() override;
  void shut_down() override;

 private:
  void answer(Result<Response> result);

  House& house_;
  std::unique_ptr<Visit> visit_;
  std::stop_source stop_;
  bool over_ = false;
};

}  // namespace stoka::serve
