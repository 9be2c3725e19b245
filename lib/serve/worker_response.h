// A response that a worker thread makes as a whole.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>

#include "serve/handler.h"
#include "serve/request_context.h"

namespace stoka::serve {

class WorkerResponse final : public PendingResponse,
                             public std::enable_shared_from_this<WorkerResponse> {
 public:
  // Runs on a worker thread. A stop is requested when the client disconnects.
  using Work = std::function<Result<HttpResponse>(std::stop_token stop)>;

  WorkerResponse(ServerContext& server, std::unique_ptr<RequestContext> context)
      : server_(server), context_(std::move(context)) {}

  // Responds with busy_error() at once if the queue of the workers is full.
  void start(WorkerPool& workers, Work work);

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
