#include "generate/generator.h"

#include <utility>

namespace stoka::generate {
namespace {

class KnownAnswer final : public GenerationStream {
 public:
  KnownAnswer(std::vector<std::string> pieces, Result<FinishReason> outcome)
      : pieces_(std::move(pieces)), outcome_(std::move(outcome)) {}

  void start(net::EventLoop& loop, GenerationSink& sink) override {
    timer_ = loop.after(std::chrono::milliseconds(0), [this, &sink] {
      sink.accepted();
      for (const std::string& piece : pieces_) sink.text(piece);
      is_over_ = true;
      sink.finished();  // the call may destroy this object
    });
  }
  Result<FinishReason> result(std::stop_token) override {
    if (!is_over_) return fail(ErrorKind::cancelled, "interrupted");
    return outcome_;
  }

 private:
  const std::vector<std::string> pieces_;
  const Result<FinishReason> outcome_;
  bool is_over_ = false;
  net::EventLoop::Timer timer_;
};

// Passes an answer on until a stop is requested.
struct StoppableSink final : GenerationSink {
  StoppableSink(const std::function<void()>& accepted_callback, const DeltaSink& text_callback,
                const std::stop_token& stop_token)
      : on_accepted(accepted_callback), on_text(text_callback), stop(stop_token) {}
  void accepted() override { on_accepted(); }
  void text(std::string_view delta) override {
    is_cut = is_cut || stop.stop_requested();
    if (!is_cut) on_text(delta);
  }
  void finished() override { on_finished(true); }

  const std::function<void()>& on_accepted;
  const DeltaSink& on_text;
  const std::stop_token& stop;
  std::function<void(bool)> on_finished;
  bool is_cut = false;  // a part of the text was not passed on
};

}  // namespace

std::unique_ptr<GenerationStream> known_answer(std::vector<std::string> pieces,
                                               Result<FinishReason> outcome) {
  return std::make_unique<KnownAnswer>(std::move(pieces), std::move(outcome));
}

Result<FinishReason> generate_blocking(net::EventLoopPool& loops, Generator& generator,
                                       const GenerationRequest& request,
                                       const std::function<void()>& accepted, const DeltaSink& sink,
                                       std::stop_token stop) {
  const net::EventLoopPool::Handle loop = loops.acquire();
  STOKA_ASSIGN(const std::unique_ptr<GenerationStream> stream, generator.begin(request, stop));
  StoppableSink stoppable(accepted, sink, stop);
  loop->run<bool>(
      [&](std::function<void(bool)> done) {
        stoppable.on_finished = std::move(done);
        stream->start(*loop, stoppable);
        return nullptr;
      },
      stop);
  if (stoppable.is_cut) return fail(ErrorKind::cancelled, "interrupted");
  return stream->result(stop);
}

}  // namespace stoka::generate
