#include "generate/openai_generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "generate/chat_decoder.h"
#include "generate/framing.h"
#include "generate/openai_server.h"
#include "generate/timed_stop_source.h"
#include "text/tokens.h"

namespace stoka::generate {
namespace {

constexpr int kTokensPerLine = 40;
const net::Deadline kNoDeadline{std::chrono::milliseconds(0)};
constexpr std::chrono::milliseconds kProbeTimeout{10000};
// If the server counts fewer tokens than this share of the estimate, it has cut the prompt. The
// share is low, because token counts differ between servers.
constexpr double kMinReadShare = 0.6;

size_t estimate(std::span<const Message> messages) {
  size_t out = 0;
  for (const Message& message : messages) out += text::estimate_tokens(message.content);
  return out;
}

ChatSettingNames setting_names(const net::Upstream& upstream) {
  return {upstream.setting_key("model"), upstream.setting_key("max_tokens"),
          upstream.setting_key("extra")};
}

// The subject by which a recording finds a request for framing lines.
std::string framing_subject(std::span<const Hit> hits) {
  std::string out = "framing";
  for (const Hit& hit : hits) out += " " + hit.chunk.slug;
  return out;
}

}  // namespace

struct OpenAiGenerator::State {
  void warn_about_answer(std::span<const Message> messages, const ChatEnd& end);
  Result<std::optional<FramingLines>> complete(std::span<const Hit> hits, std::stop_token stop);
  Result<FramingLines> chat(std::span<const Hit> hits, std::stop_token stop);

  net::Upstream& upstream;
  const OpenAiOptions options;
  Log& log;
  OpenAiServer server;
  std::atomic<bool> accepts_several_prompts = true;  // false after a server refused them
  std::atomic<bool> warned_about_prompt = false;
};

OpenAiGenerator::OpenAiGenerator(net::Upstream& upstream, OpenAiOptions options, Log& log)
    : state_(new State{
          upstream, options, log, {upstream, options.model, options.preferred_model, log}}) {}

OpenAiGenerator::~OpenAiGenerator() = default;

std::string OpenAiGenerator::name() const {
  const std::string model = state_->server.known_model();
  return fmt::format("{} at {}", model.empty() ? "a model" : model,
                     state_->upstream.options().url.display());
}

void OpenAiGenerator::State::warn_about_answer(std::span<const Message> messages,
                                               const ChatEnd& end) {
  const size_t sent = estimate(messages);
  if (end.prompt_tokens > 0 &&
      static_cast<double>(end.prompt_tokens) < kMinReadShare * static_cast<double>(sent) &&
      !warned_about_prompt.exchange(true))
    log.warning(
        fmt::format("the server read {} of about {} prompt tokens; raise its context length",
                    end.prompt_tokens, sent));
  if (end.reasoning_in_text)
    log.warning(
        "the model's reasoning is part of its answer; let the server separate it, or turn it off "
        "with " +
        upstream.setting_key("extra"));
}

// Generates one answer: receives the response, decodes it, and passes the text to the reader.
class OpenAiGenerator::Stream final : public GenerationStream, net::BodySink {
 public:
  Stream(State& state, const GenerationRequest& request, std::string model, net::Deadline deadline)
      : state_(state),
        messages_(request.messages),
        subject_(request.query),
        model_(std::move(model)),
        deadline_(deadline),
        rejected_(state.server.rejected()),
        decoder_([this](std::string_view delta) { sink_->text(delta); }, {},
                 state.upstream.options().key, setting_names(state.upstream)) {}

  // Writes the first request before the generation starts, so that its errors are returned early.
  Result<> prepare() {
    STOKA_ASSIGN(first_body_, write());
    return {};
  }

  void start(net::EventLoop& loop, GenerationSink& sink) override {
    loop_ = &loop;
    sink_ = &sink;
    send(std::move(first_body_));
  }
  void pause() override {
    if (call_) call_->pause();
  }
  void resume() override {
    if (call_) call_->resume();
  }

  Result<FinishReason> result(std::stop_token stop) override {
    // Once the finish reason has arrived, the answer is complete, however the transfer ended.
    if (!response_ && !decoder_.finished()) return fail(response_.error());
    if (response_ && !response_->ok())
      return fail(state_.server.status_error(*response_, model_, stop, deadline_));
    const auto end = decoder_.finish();
    if (!end) return fail(state_.server.describe(end.error()));
    state_.warn_about_answer(messages_, *end);
    return end->finish;
  }

 private:
  Result<std::string> write() const {
    return chat_body({model_, messages_, state_.options.max_tokens, true, state_.options.stop},
                     state_.options, rejected_);
  }

  void send(std::string body) {
    net::Call call;
    call.endpoint = "chat/completions";
    call.body = std::move(body);
    call.subject = subject_;
    call.timeout = deadline_.remaining();
    call_ = state_.upstream.start(
        *loop_, std::move(call), this,
        [this](Result<net::HttpResponse> response) { on_response(std::move(response)); });
  }

  void on_response(Result<net::HttpResponse> response) {
    response_ = std::move(response);
    if (response_ && state_.server.should_repeat(*response_, rejected_, repeats_++)) {
      if (auto body = write()) return send(std::move(*body));
    }
    sink_->finished();  // the call may destroy this object
  }

  Result<> head(const net::ResponseHead& head) override {
    if (auto accepted = decoder_.head(head.content_type); !accepted)
      return fail(state_.server.describe(accepted.error()));
    sink_->accepted();
    return {};
  }

  Result<net::BodyProgress> body(std::string_view bytes) override {
    const auto accepted = decoder_.push(bytes);
    if (!accepted) return fail(state_.server.describe(accepted.error()));
    return accepted;
  }

  State& state_;
  const std::vector<Message> messages_;
  const std::string subject_;
  const std::string model_;
  const net::Deadline deadline_;
  RejectedFields rejected_;
  std::string first_body_;
  int repeats_ = 0;
  net::EventLoop* loop_ = nullptr;
  GenerationSink* sink_ = nullptr;
  ChatDecoder decoder_;
  Result<net::HttpResponse> response_ = fail(ErrorKind::cancelled, "stopped");
  std::unique_ptr<net::PendingCall> call_;
};

Result<std::unique_ptr<GenerationStream>> OpenAiGenerator::begin(const GenerationRequest& request,
                                                                 std::stop_token stop) {
  const net::Deadline deadline(state_->upstream.options().timeouts.total);
  STOKA_ASSIGN(std::string model, state_->server.model(stop, deadline));
  auto out = std::make_unique<Stream>(*state_, request, std::move(model), deadline);
  STOKA_TRY(out->prepare());
  return out;
}

// A listed model may not be loadable or a chat model, so a single token is requested from it.
Result<std::string> OpenAiGenerator::probe(std::stop_token stop) {
  State& state = *state_;
  const net::Deadline deadline(kProbeTimeout);
  STOKA_ASSIGN(const std::string model, state.server.model(stop, deadline));
  const std::vector<Message> messages = {{"user", "hi"}};
  const ChatParameters parameters{model, messages, 1, false};
  // This request has no subject, so that a replay does not use its response to answer a question.
  net::Call call{"chat/completions", {}};
  call.timeout_setting = {};
  const auto write = [&](const RejectedFields& rejected) {
    return chat_body(parameters, state.options, rejected);
  };
  STOKA_ASSIGN(const net::HttpResponse response,
               state.server.send(std::move(call), write, deadline, stop));
  if (!response.ok() && !is_output_limit(response.body))
    return fail(state.server.status_error(response, model, stop, deadline));
  if (response.ok() && response.content_type != "text/event-stream") {
    const auto word = read_chat_json(response.body, ChatShape::whole);
    if (!word || word->is_error || !word->has_choice)
      return fail(state.upstream.protocol_error("the response is not a chat completion"));
  }
  return model;
}

// Returns nothing if the server does not accept several prompts in one completion.
Result<std::optional<FramingLines>> OpenAiGenerator::State::complete(std::span<const Hit> hits,
                                                                     std::stop_token stop) {
  STOKA_ASSIGN(const std::string model, server.model(stop, kNoDeadline));
  std::vector<std::string> prompts;
  for (const Hit& hit : hits) prompts.push_back(framing_prompt(hit, options.framing_voice));
  const auto write = [&](const RejectedFields& rejected) {
    return completions_body(model, prompts, kTokensPerLine, options, rejected);
  };
  STOKA_ASSIGN(const net::HttpResponse response,
               server.send({"completions", {}, framing_subject(hits)}, write, kNoDeadline, stop));
  if (response.status == 500) return std::nullopt;  // probably temporary
  constexpr int kNotAccepted[] = {400, 404, 405, 422, 501};
  const bool accepted = std::find(std::begin(kNotAccepted), std::end(kNotAccepted),
                                  response.status) == std::end(kNotAccepted);
  if (accepted && !response.ok()) return fail(upstream.status_error(response));
  auto lines = accepted ? completed_lines(response.body, hits.size()) : std::nullopt;
  accepts_several_prompts = lines.has_value();
  return lines;
}

Result<FramingLines> OpenAiGenerator::State::chat(std::span<const Hit> hits, std::stop_token stop) {
  STOKA_ASSIGN(const std::string model, server.model(stop, kNoDeadline));
  const std::vector<Message> messages = framing_messages(hits, options.framing_voice);
  const ChatParameters parameters{model, messages, kTokensPerLine * static_cast<int>(hits.size()),
                                  false};
  const auto write = [&](const RejectedFields& rejected) {
    return chat_body(parameters, options, rejected);
  };
  STOKA_ASSIGN(
      const net::HttpResponse response,
      server.send({"chat/completions", {}, framing_subject(hits)}, write, kNoDeadline, stop));
  if (!response.ok()) return fail(upstream.status_error(response));
  std::string text;
  ChatDecoder decoder([&](std::string_view delta) { text += delta; }, {}, upstream.options().key,
                      setting_names(upstream));
  auto decoded = decoder.head(response.content_type);
  if (decoded) decoded = decoder.push(response.body).map([](net::BodyProgress) {});
  if (!decoded) return fail(server.describe(decoded.error()));
  const auto end = decoder.finish();
  if (!end) return fail(server.describe(end.error()));
  if (end->reasoning_in_text) return FramingLines(hits.size());
  return numbered_lines(text, hits.size());
}

std::vector<std::optional<std::string>> OpenAiGenerator::frame(std::span<const Hit> hits,
                                                               std::stop_token stop) {
  if (hits.empty()) return {};
  State& state = *state_;
  TimedStopSource alarm(stop);
  alarm.stop_after(state.options.framing_timeout);
  auto lines = [&]() -> Result<FramingLines> {
    if (state.accepts_several_prompts) {
      STOKA_ASSIGN(auto completed, state.complete(hits, alarm.token()));
      if (completed) return std::move(*completed);
    }
    return state.chat(hits, alarm.token());
  }();
  if (lines) return std::move(*lines);
  const bool timed_out = lines.error().kind == ErrorKind::cancelled && !stop.stop_requested();
  state.log.warning(fmt::format("recommendations without framing lines: {}",
                                timed_out ? "they took too long" : lines.error().message));
  return FramingLines(hits.size());
}

}  // namespace stoka::generate
