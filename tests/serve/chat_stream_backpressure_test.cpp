// Chat over HTTP when the client does not read.
#include <doctest/doctest.h>

#include <atomic>

#include "serve/chat_server_fixture.h"
#include "serve/chat_stream.h"

namespace chat_stream_backpressure_test {

using namespace stoka;
using namespace stoka::testing;

namespace {

constexpr const char* kSession = "11111111-1111-4111-8111-11111111111a";
const Json kAsked = {{"query", kQuestion}, {"session_id", kSession}};

// A generator that writes megabytes as fast as the client reads.
class Flood final : public generate::Generator {
 public:
  explicit Flood(size_t bytes) : bytes_(bytes) {}

  std::string name() const override { return "flood"; }
  bool reads_prompt() const override { return false; }
  Result<std::unique_ptr<generate::GenerationStream>> begin(const generate::GenerationRequest&,
                                                            std::stop_token) override {
    return std::make_unique<Writing>(*this);
  }

  std::atomic<size_t> written = 0;  // by all writings
  std::atomic<size_t> pauses = 0;
  std::atomic<int> writings = 0;

 private:
  class Writing final : public generate::GenerationStream {
   public:
    explicit Writing(Flood& flood) : flood_(flood) { ++flood_.writings; }
    ~Writing() override { --flood_.writings; }

    void start(net::EventLoop& loop, generate::GenerationSink& reader) override {
      loop_ = &loop;
      reader_ = &reader;
      timer_ = loop.after(net::Milliseconds(0), [this] {
        reader_->accepted();
        write();
      });
    }
    void pause() override {
      ++flood_.pauses;
      timer_.cancel();
      paused_ = true;
    }
    void resume() override {
      paused_ = false;
      timer_ = loop_->after(net::Milliseconds(0), [this] { write(); });
    }
    Result<generate::FinishReason> result(std::stop_token) override {
      return generate::FinishReason::complete;
    }

   private:
    void write() {
      // One piece is larger than the backlog that pauses the upstream.
      static const std::string piece = [] {
        std::string out;
        while (out.size() < 300000) out += "all is well and stays so. ";
        return out;
      }();
      if (written_ >= flood_.bytes_) return reader_->finished();
      written_ += piece.size();
      flood_.written += piece.size();
      reader_->text(piece);
      if (!paused_) timer_ = loop_->after(net::Milliseconds(0), [this] { write(); });
    }

    Flood& flood_;
    net::EventLoop* loop_ = nullptr;
    generate::GenerationSink* reader_ = nullptr;
    size_t written_ = 0;
    bool paused_ = false;
    net::EventLoop::Timer timer_;
  };

  const size_t bytes_;
};

Flood& flood(ChatServerFixture& fixture, size_t bytes) {
  auto made = std::make_unique<Flood>(bytes);
  Flood& out = *made;
  fixture.parts.generator = std::move(made);
  return out;
}

}  // namespace

TEST_CASE("a client that reads late gets the whole answer") {
  ChatServerFixture fixture;
  Flood& model = flood(fixture, 6u << 20);
  HttpConnection client(fixture.port(), 4096);
  send_chat(client, kAsked);
  CHECK(eventually([&] { return model.pauses > 0; }));
  const ChatReply reply = read_reply(client);
  REQUIRE(reply.well_formed());
  CHECK(reply.last().name == "done");
  CHECK(reply.text().size() + 1 >= model.written);
}

TEST_CASE("a client that does not read pauses only its own answer, and is disconnected") {
  serve::ServerOptions server;
  server.limits.write_timeout = std::chrono::seconds(1);
  ChatServerFixture fixture({.server = server});
  Flood& model = flood(fixture, 1u << 30);
  HttpConnection client(fixture.port(), 4096);
  send_chat(client, kAsked);
  CHECK(eventually([&] { return model.pauses > 0; }));
  CHECK(fixture.ask("hi").last().name == "done");
  CHECK(eventually([&] { return model.writings == 0 && fixture.quiet(); }));
  // The buffers of the sockets and the backlog of the server.
  CHECK(model.written < (12u << 20));
  REQUIRE(eventually([&] { return fixture.parts.store->session(kSession).value().has_value(); }));
  CHECK(fixture.parts.store->session(kSession).value()->turns == 1);
  CHECK(fixture.metrics.streams(serve::Metrics::StreamEnd::client_left).value() == 1);
  CHECK(fixture.metrics.connections.value() <= 1);
}

}  // namespace chat_stream_backpressure_test
