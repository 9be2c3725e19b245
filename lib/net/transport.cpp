#include "net/transport.h"

#include "net/event_loop.h"

namespace stoka::net {

Transport::Transport() : loops_(std::make_unique<EventLoopPool>()) {}

Transport::~Transport() = default;

std::optional<TransferFailure> Transport::perform(const HttpRequest& request, BodySink& sink,
                                                  std::stop_token stop) {
  const EventLoopPool::Handle loop = loops_->acquire();
  const auto outcome = loop->run<std::optional<TransferFailure>>(
      [&](CompletionCallback done) { return start(*loop, request, sink, std::move(done)); }, stop);
  return outcome.value_or(TransferFailure{.error = Error(ErrorKind::cancelled, "stopped")});
}

std::unique_ptr<Transfer> SynchronousTransport::start(EventLoop& loop, const HttpRequest& request,
                                                      BodySink& sink, CompletionCallback done) {
  struct Pending final : Transfer {
    EventLoop::Timer timer;
  };
  auto pending = std::make_unique<Pending>();
  pending->timer = loop.after(Milliseconds(0), [this, &request, &sink, done = std::move(done)] {
    done(perform(request, sink, {}));
  });
  return pending;
}

}  // namespace stoka::net
