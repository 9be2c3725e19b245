#include "generate/generator.h"

#include <utility>

namespace stoka::generate {
namespace {

// An answer that was generated at once and is passed on later.
class BufferedStream final : public GenerationStream {
 public:
  BufferedStream(std::vector<std::string> pieces, Result<FinishReason> finish)
      : pieces_(std::move(pieces)), finish_(std::move(finish)) {}

  void start(net::EventLoop& loop, GenerationSink& sink) override {
    timer_ = loop.after(std::chrono::milliseconds(0), [this, &sink] {
      sink.accepted();
      for (const std::string& piece : pieces_) sink.text(piece);
      sink.finished();
    });
  }
  Result<FinishReason> result(std::stop_token) override { return finish_; }

 private:
  const std::vector<std::string> pieces_;
  const Result<FinishReason> finish_;
  net::EventLoop::Timer timer_;
};

}  // namespace

Result<std::unique_ptr<GenerationStream>> Generator::begin(const GenerationRequest& request,
                                                           std::stop_token stop) {
  bool accepted = false;
  std::vector<std::string> pieces;
  auto finish = stream(
      request, [&] { accepted = true; },
      [&](std::string_view delta) { pieces.emplace_back(delta); }, stop);
  if (!finish && !accepted) return fail(finish.error());
  return std::make_unique<BufferedStream>(std::move(pieces), std::move(finish));
}

}  // namespace stoka::generate
