#include "generate/chat_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "net/json_text.h"
#include "text/utf8.h"

namespace stoka::generate {
namespace {

constexpr std::string_view kDone = "[DONE]";
constexpr std::string_view kReduceReasoning =
    "raise generator.max_tokens, or turn thinking off with generator.extra";

}  // namespace

ChatDecoder::ChatDecoder(DeltaSink sink, ChatLimits limits, Secret key)
    : sink_(std::move(sink)), limits_(limits), key_(std::move(key)) {}

Result<> ChatDecoder::head(std::string_view content_type) {
  streamed_ = content_type == "text/event-stream";
  if (streamed_ || content_type == "application/json") return {};
  const std::string_view sent = content_type.empty() ? "no content type" : content_type;
  return fail(ErrorKind::protocol, fmt::format("answered with {} instead of an event stream", sent),
              "check that the address is that of an OpenAI-style server");
}

Result<net::Heard> ChatDecoder::push(std::string_view bytes) {
  Result<> result;
  if (done_) {
    // Anything after [DONE] is ignored.
  } else if (streamed_) {
    Result<> event_result;
    result = events_.push(bytes, [&](const net::SseEvent& event) {
      const Result<bool> more = on_event(event);
      if (!more) event_result = fail(more.error());
      return more.value_or(false);
    });
    if (!event_result) result = event_result;
  } else {
    body_ += bytes;
    if (body_.size() > limits_.body)
      result = fail(ErrorKind::protocol,
                    fmt::format("the answer is longer than {} bytes", limits_.body));
  }
  failed_ = !result;
  STOKA_TRY(result);
  if (over_limit()) return net::Heard::enough;
  if (done_ || finished()) return net::Heard::ending;
  return text_bytes_ + reasoning_bytes_ > 0 ? net::Heard::flowing : net::Heard::waiting;
}

// Returns whether to go on decoding.
Result<bool> ChatDecoder::on_event(const net::SseEvent& event) {
  const std::string_view data = trimmed(event.data);
  done_ = data == kDone;
  if (done_) return false;
  if (data.empty() && event.type != "error") return true;
  auto chunk = read_chat_json(data, ChatShape::chunk, key_);
  const bool is_error = event.type == "error" || (chunk && chunk->is_error);
  if (is_error) return fail(server_error(data, chunk ? chunk->code : 0));
  STOKA_TRY(chunk);
  STOKA_TRY(add(std::move(*chunk)));
  return !done_;
}

Result<> ChatDecoder::add(ChatChunk chunk) {
  prompt_tokens_ = std::max(prompt_tokens_, chunk.prompt_tokens);
  completion_tokens_ = std::max(completion_tokens_, chunk.completion_tokens);
  cached_ = cached_ || chunk.cached_tokens > 0;
  reasoning_bytes_ += chunk.reasoning_bytes;
  text_bytes_ += chunk.text.size();
  emit(filter_.push(joiner_.push(chunk.text)));
  if (over_limit()) done_ = true;
  if (!chunk.finish.empty()) finish_ = std::move(chunk.finish);
  if (finish_ == "content_filter")
    return fail(ErrorKind::protocol, "the provider's content filter ended the answer",
                "put the question differently");
  if (finish_ == "error") return fail(server_error({}, 0));
  return {};
}

// Whether the answer or the reasoning has reached its limit.
bool ChatDecoder::over_limit() const {
  return text_bytes_ - filter_.reasoning_bytes() >= limits_.text ||
         reasoning_bytes() >= limits_.reasoning;
}

Result<> ChatDecoder::parse_body() {
  STOKA_ASSIGN(ChatChunk chunk, read_chat_json(body_, ChatShape::whole, key_));
  if (chunk.is_error) return fail(server_error(body_, chunk.code));
  if (!chunk.has_choice) {
    const std::string message = net::error_message(body_, key_);
    return fail(ErrorKind::protocol, message.empty() ? "an answer without choices"
                                                     : "an answer without choices: " + message);
  }
  if (chunk.finish.empty()) chunk.finish = "stop";  // a complete JSON text is a complete answer
  const size_t reasoning = reasoning_end(chunk.text);
  chunk.reasoning_bytes += reasoning;
  chunk.text.erase(0, reasoning);
  return add(std::move(chunk));
}

Error ChatDecoder::server_error(std::string_view body, int64_t code) const {
  const std::string said = net::error_message(body, key_);
  std::string message = said.empty() ? "the model server failed without saying why"
                                     : "the model server failed: " + said;
  if (code == 401 || code == 403) return {ErrorKind::config, std::move(message), "check the key"};
  if (code >= 400 && code < 429) return {ErrorKind::protocol, std::move(message)};
  return {ErrorKind::unavailable, std::move(message), "ask again; its log may say more"};
}

void ChatDecoder::emit(std::string_view text) {
  text = text.substr(
      0, text::floor_border(text, std::min(limits_.text - emitted_bytes_, text.size())));
  if (text.empty()) return;
  emitted_bytes_ += text.size();
  visible_ = visible_ || text.find_first_not_of(kWhiteSpace) != text.npos;
  sink_(text);
}

Result<ChatEnd> ChatDecoder::finish() {
  if (!streamed_) STOKA_TRY(parse_body());
  if (streamed_ && !done_ && trimmed(events_.pending()) == kDone) done_ = true;
  emit(filter_.push(joiner_.finish()));
  emit(filter_.finish());
  return outcome();
}

Result<ChatEnd> ChatDecoder::outcome() const {
  const bool length = over_limit() || finish_ == "length" || finish_ == "max_tokens";
  if (visible_) {
    const bool has_reason = !finish_.empty() && finish_ != "abort";
    const Finish finish = length       ? Finish::length
                          : has_reason ? Finish::complete
                                       : Finish::truncated;
    return ChatEnd{finish, cached_ ? 0 : prompt_tokens_, filter_.stray_tag()};
  }
  if (finish_ == "tool_calls" || finish_ == "function_call")
    return fail(ErrorKind::protocol, "the model called a tool, but there are no tools",
                "turn tools off in the model server, or choose another generator.model");
  if (reasoning_bytes() > 0 && over_limit())
    return fail(ErrorKind::config,
                fmt::format("the model thought for {} bytes without answering", reasoning_bytes()),
                "turn thinking off with generator.extra");
  if (reasoning_bytes() > 0 && length)
    return fail(ErrorKind::config,
                completion_tokens_ > 0
                    ? fmt::format("the model spent its {} tokens thinking", completion_tokens_)
                    : "the model spent all its tokens thinking",
                std::string(kReduceReasoning));
  if (finish_.empty())
    return fail(ErrorKind::protocol, "the answer broke off before its first word",
                "ask again; the model server's log may say more");
  if (reasoning_bytes() > 0)
    return fail(ErrorKind::protocol, "the model thought but wrote no answer",
                std::string(kReduceReasoning));
  return fail(ErrorKind::protocol, "the model wrote no answer", "ask again");
}

}  // namespace stoka::generate
