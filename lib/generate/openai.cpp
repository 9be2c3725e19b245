#include "generate/openai.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "generate/alarm.h"
#include "generate/chat_decoder.h"
#include "generate/framing.h"
#include "generate/openai_server.h"
#include "text/tokens.h"

namespace stoka::generate {
namespace {

constexpr int kFramingTokens = 40;  // a line
const net::TimeLeft kUntilStopped{std::chrono::milliseconds(0)};
constexpr std::chrono::milliseconds kProbing{10000};
// Servers count differently; below this share of our estimate they have left something out.
constexpr double kLeastRead = 0.6;

size_t estimate(std::span<const Message> messages) {
  size_t out = 0;
  for (const Message& message : messages) out += text::estimate_tokens(message.content);
  return out;
}

// What a recording knows a request for framing lines by.
std::string subject(std::span<const Hit> hits) {
  std::string out = "framing";
  for (const Hit& hit : hits) out += " " + hit.chunk.slug;
  return out;
}

}  // namespace

struct OpenAiGenerator::State {
  void check_read(std::span<const Message> messages, const ChatEnd& end);
  Result<std::optional<Lines>> complete(std::span<const Hit> hits, std::stop_token stop);
  Result<Lines> chat(std::span<const Hit> hits, std::stop_token stop);
  Result<net::Answer> ask_whole(std::string_view endpoint, std::span<const Hit> hits,
                                const OpenAiServer::Write& write, std::stop_token stop);

  net::Upstream& upstream;
  const OpenAiOptions options;
  Log& log;
  OpenAiServer server;
  std::atomic<bool> completes = true;  // the server takes several prompts at once
  std::atomic<bool> told = false;      // that it does not read whole prompts
};

OpenAiGenerator::OpenAiGenerator(net::Upstream& upstream, OpenAiOptions options, Log& log)
    : state_(new State{upstream, options, log, {upstream, options.model, options.preferred, log}}) {
}

OpenAiGenerator::~OpenAiGenerator() = default;

std::string OpenAiGenerator::name() const {
  const std::string model = state_->server.known_model();
  return fmt::format("{} at {}", model.empty() ? "a model" : model, state_->server.shown());
}

void OpenAiGenerator::State::check_read(std::span<const Message> messages, const ChatEnd& end) {
  const size_t sent = estimate(messages);
  if (end.prompt_tokens > 0 &&
      static_cast<double>(end.prompt_tokens) < kLeastRead * static_cast<double>(sent) &&
      !told.exchange(true))
    log.warning(
        fmt::format("the server read {} of about {} prompt tokens; raise its context length",
                    end.prompt_tokens, sent));
  if (end.thought_aloud)
    log.warning(
        "the model's thoughts are in its answer; have the server keep them apart, or turn thinking "
        "off with generator.extra");
}

// One answer, on its way from the wire to the reader.
class OpenAiGenerator::Answering final : public Writing, net::Listener {
 public:
  Answering(State& state, const Request& request, std::string model, net::TimeLeft time)
      : state_(state),
        messages_(request.messages),
        subject_(request.query),
        model_(std::move(model)),
        time_(time),
        refused_(state.server.refused()),
        decoder_([this](std::string_view delta) { reader_->text(delta); }, {},
                 state.upstream.options().key) {}

  // What will be sent, before it is started.
  Result<> prepare() {
    STOKA_ASSIGN(first_, write());
    return {};
  }

  void start(net::Loop& loop, Reader& reader) override {
    loop_ = &loop;
    reader_ = &reader;
    ask(std::move(first_));
  }
  void pause() override {
    if (asking_) asking_->pause();
  }
  void resume() override {
    if (asking_) asking_->resume();
  }

  Result<Finish> result(std::stop_token stop) override {
    // Whatever ended the exchange after the model's last word, the answer is whole.
    if (!answer_ && !decoder_.finished()) return fail(answer_.error());
    if (answer_ && !answer_->ok())
      return fail(state_.server.refusal(*answer_, model_, stop, time_));
    const auto end = decoder_.finish();
    if (!end) return fail(state_.server.named(end.error()));
    state_.check_read(messages_, *end);
    return end->finish;
  }

 private:
  Result<std::string> write() const {
    return chat_body({model_, messages_, state_.options.max_tokens, true, state_.options.stop},
                     state_.options, refused_);
  }

  void ask(std::string body) {
    net::Call call;
    call.name = "chat/completions";
    call.body = std::move(body);
    call.subject = subject_;
    call.total = time_.left();
    asking_ =
        state_.upstream.start(*loop_, std::move(call), this,
                              [this](Result<net::Answer> answer) { answered(std::move(answer)); });
  }

  void answered(Result<net::Answer> answer) {
    answer_ = std::move(answer);
    if (answer_ && state_.server.learn(*answer_, refused_, repeats_++)) {
      if (auto body = write()) return ask(std::move(*body));
    }
    reader_->over();  // may destroy this
  }

  Result<> head(const net::Head& head) override {
    if (auto heard = decoder_.head(head.content_type); !heard)
      return fail(state_.server.named(heard.error()));
    reader_->accepted();
    return {};
  }

  Result<net::Heard> body(std::string_view bytes) override {
    const auto heard = decoder_.push(bytes);
    if (!heard) return fail(state_.server.named(heard.error()));
    return heard;
  }

  State& state_;
  const std::vector<Message> messages_;
  const std::string subject_;
  const std::string model_;
  const net::TimeLeft time_;
  RefusedFields refused_;
  std::string first_;
  int repeats_ = 0;
  net::Loop* loop_ = nullptr;
  Reader* reader_ = nullptr;
  ChatDecoder decoder_;
  Result<net::Answer> answer_ = fail(ErrorKind::cancelled, "stopped");
  std::unique_ptr<net::Asking> asking_;
};

Result<std::unique_ptr<Writing>> OpenAiGenerator::begin(const Request& request,
                                                        std::stop_token stop) {
  const net::TimeLeft time(state_->upstream.options().deadlines.total);
  STOKA_ASSIGN(std::string model, state_->server.model(stop, time));
  auto out = std::make_unique<Answering>(*state_, request, std::move(model), time);
  STOKA_TRY(out->prepare());
  return out;
}

Result<Finish> OpenAiGenerator::stream(const Request& request,
                                       const std::function<void()>& accepted, const DeltaSink& sink,
                                       std::stop_token stop) {
  struct Through final : Reader {
    Through(const std::function<void()>& on_accepted, const DeltaSink& on_text)
        : on_accepted_(on_accepted), on_text_(on_text) {}
    void accepted() override { on_accepted_(); }
    void text(std::string_view delta) override { on_text_(delta); }
    void over() override { is_over = true; }
    bool is_over = false;
    const std::function<void()>& on_accepted_;
    const DeltaSink& on_text_;
  } reader(accepted, sink);
  const net::Loops::Lease loop = state_->upstream.loops().take();
  STOKA_ASSIGN(const std::unique_ptr<Writing> writing, begin(request, stop));
  writing->start(*loop, reader);
  loop->drive([&] { return reader.is_over; }, stop);
  return writing->result(stop);
}

// That a model is listed does not say that it can be loaded, or that it is a chat model.
Result<Probe> OpenAiGenerator::probe(std::stop_token stop) {
  State& state = *state_;
  const net::TimeLeft time(kProbing);
  STOKA_ASSIGN(const std::string model, state.server.model(stop, time));
  const std::vector<Message> messages = {{"user", "hi"}};
  const ChatAsk ask{model, messages, 1, false};
  net::Call call;  // without a subject, so that no question is answered with its recording
  call.name = "chat/completions";
  call.total_setting = {};
  STOKA_ASSIGN(const net::Answer answer, state.server.ask(
                                             [&](const RefusedFields& refused) {
                                               return chat_body(ask, state.options, refused);
                                             },
                                             [&](std::string body) {
                                               call.body = std::move(body);
                                               call.total = time.left();
                                               return state.upstream.call(call, stop);
                                             }));
  if (!answer.ok() && !names_output_limit(answer.body))
    return fail(state.server.refusal(answer, model, stop, time));
  if (answer.ok() && answer.content_type != "text/event-stream") {
    const auto word = read_chat_json(answer.body, ChatShape::whole);
    if (!word || word->is_error || !word->has_choice)
      return fail(state.upstream.nonsense("what should be a chat completion is none"));
  }
  return Probe{model};
}

// Nothing where the server does not take several prompts.
Result<std::optional<Lines>> OpenAiGenerator::State::complete(std::span<const Hit> hits,
                                                              std::stop_token stop) {
  STOKA_ASSIGN(const std::string model, server.model(stop, kUntilStopped));
  std::vector<std::string> prompts;
  for (const Hit& hit : hits) prompts.push_back(framing_prompt(hit, options.framing_voice));
  const auto write = [&](const RefusedFields& refused) {
    return completions_body(model, prompts, kFramingTokens, options, refused);
  };
  STOKA_ASSIGN(const net::Answer answer, ask_whole("completions", hits, write, stop));
  if (answer.status == 500) return std::nullopt;  // this time
  constexpr int kNotTaken[] = {400, 404, 405, 422, 501};
  const bool taken =
      std::find(std::begin(kNotTaken), std::end(kNotTaken), answer.status) == std::end(kNotTaken);
  if (taken && !answer.ok()) return fail(upstream.refusal(answer));
  auto lines = taken ? completed_lines(answer.body, hits.size()) : std::nullopt;
  completes = lines.has_value();
  return lines;
}

Result<Lines> OpenAiGenerator::State::chat(std::span<const Hit> hits, std::stop_token stop) {
  STOKA_ASSIGN(const std::string model, server.model(stop, kUntilStopped));
  const std::vector<Message> messages = framing_messages(hits, options.framing_voice);
  const ChatAsk asked{model, messages, kFramingTokens * static_cast<int>(hits.size()), false};
  const auto write = [&](const RefusedFields& refused) {
    return chat_body(asked, options, refused);
  };
  STOKA_ASSIGN(const net::Answer answer, ask_whole("chat/completions", hits, write, stop));
  if (!answer.ok()) return fail(upstream.refusal(answer));
  std::string text;
  ChatDecoder decoder([&](std::string_view delta) { text += delta; }, {}, upstream.options().key);
  auto decoded = decoder.head(answer.content_type);
  if (decoded) decoded = decoder.push(answer.body).map([](net::Heard) {});
  if (!decoded) return fail(server.named(decoded.error()));
  const auto end = decoder.finish();
  if (!end) return fail(server.named(end.error()));
  if (end->thought_aloud) return Lines(hits.size());
  return numbered_lines(text, hits.size());
}

Result<net::Answer> OpenAiGenerator::State::ask_whole(std::string_view endpoint,
                                                      std::span<const Hit> hits,
                                                      const OpenAiServer::Write& write,
                                                      std::stop_token stop) {
  net::Call call;
  call.name = endpoint;
  call.subject = subject(hits);
  return server.ask(write, [&](std::string body) {
    call.body = std::move(body);
    return upstream.call(call, stop);
  });
}

std::vector<std::optional<std::string>> OpenAiGenerator::frame(std::span<const Hit> hits,
                                                               std::stop_token stop) {
  if (hits.empty()) return {};
  State& state = *state_;
  Alarm alarm(stop);
  alarm.set(state.options.framing);
  auto lines = [&]() -> Result<Lines> {
    if (state.completes) {
      STOKA_ASSIGN(auto completed, state.complete(hits, alarm.token()));
      if (completed) return std::move(*completed);
    }
    return state.chat(hits, alarm.token());
  }();
  if (lines) return std::move(*lines);
  const bool late = lines.error().kind == ErrorKind::cancelled && !stop.stop_requested();
  state.log.warning(fmt::format("recommendations without framing lines: {}",
                                late ? "they took too long" : lines.error().message));
  return Lines(hits.size());
}

}  // namespace stoka::generate
