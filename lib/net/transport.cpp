#include "net/transport.h"

#include "net/event_loop.h"

namespace stoka::net {

Transport::Transport() : loops_(std::make_unique<EventLoopPool>()) {}

Transport::~Transport() = default;

std::optional<Failure> Transport::perform(const Request& request, Listener& sink,
                                          std::stop_token stop) {
  const Failure stopped{.error = Error(ErrorKind::cancelled, "stopped")};
  if (stop.stop_requested()) return stopped;
  const EventLoopPool::Handle loop = loops_->acquire();
  bool over = false;
  std::optional<Failure> failure;
  const auto transfer = start(*loop, request, sink, [&](std::optional<Failure> how) {
    failure = std::move(how);
    over = true;
  });
  loop->drive([&] { return over; }, stop);
  return over ? failure : stopped;
}

std::unique_ptr<Transfer> Immediate::start(Loop& loop, const Request& request, Listener& sink,
                                           Done done) {
  struct Pending final : Transfer {
    Loop::Timer timer;
  };
  auto pending = std::make_unique<Pending>();
  pending->timer = loop.after(Milliseconds(0), [this, &request, &sink, done = std::move(done)] {
    done(perform(request, sink, {}));
  });
  return pending;
}

}  // namespace stoka::net
