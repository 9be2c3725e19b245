#include "generate/chat_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "net/json_text.h"
#include "text/utf8.h"

namespace stoka::generate {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kDone = "[DONE]";
constexpr size_t kMaxDepth = 64;

// What an object or array in a chat completion contains.
enum class Node {
  ignored,
  root,
  error,
  usage,
  prompt,
  choices,
  choice,
  delta,
  parts,
  part,
  reasoning
};

bool is_any_of(std::string_view key, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), key) != names.end();
}

bool is_reasoning_key(std::string_view key) {
  return is_any_of(key, {"reasoning", "reasoning_content", "thinking", "reasoning_details"});
}

class ChatReader final : public Json::json_sax_t {
 public:
  explicit ChatReader(ChatShape shape)
      : text_key_(shape == ChatShape::chunk ? "delta" : "message") {}

  const ChatChunk& chunk() const { return chunk_; }
  bool is_object() const { return is_object_; }

  bool null() override { return true; }
  bool boolean(bool value) override {
    if (value && node() == Node::root && key_ == "error") chunk_.is_error = true;
    return true;
  }
  bool number_integer(int64_t value) override { return any_number(value); }
  bool number_unsigned(uint64_t value) override {
    return any_number(static_cast<int64_t>(std::min<uint64_t>(value, INT64_MAX)));
  }
  bool number_float(double value, const std::string&) override {
    constexpr double kMaxNumber = 1e15;
    return any_number(value > 0 ? static_cast<int64_t>(std::min(value, kMaxNumber)) : 0);
  }
  bool binary(Json::binary_t&) override { return true; }
  bool parse_error(size_t, const std::string&, const Json::exception&) override { return false; }

  bool string(std::string& value) override {
    switch (node()) {
      case Node::root:
        if (key_ == "error" && !value.empty()) chunk_.is_error = true;
        if (is_any_of(key_, {"type", "object"}) && value == "error") chunk_.is_error = true;
        if (key_ == "code") set_code(value);
        break;
      case Node::error:
        if (key_ == "code") set_code(value);
        break;
      case Node::choice:
        if (key_ == "finish_reason") finish_ = std::move(value);
        break;
      case Node::delta:
        if (is_any_of(key_, {"content", "refusal"})) text_ += value;
        if (is_reasoning_key(key_)) reasoning_bytes_ = std::max(reasoning_bytes_, value.size());
        break;
      case Node::parts:
        text_ += value;
        break;
      case Node::part:
        if (key_ == "type")
          part_type_ = std::move(value);
        else if (key_ == "text")
          part_text_ = std::move(value);
        else if (is_reasoning_key(key_))
          parts_reasoning_bytes_ += value.size();
        break;
      case Node::reasoning:
        if (is_any_of(key_, {"text", "thinking", "summary", "content"}))
          parts_reasoning_bytes_ += value.size();
        break;
      default:
        break;
    }
    return true;
  }

  bool key(std::string& value) override {
    key_ = value;
    if (node() == Node::error) chunk_.is_error = true;  // an empty error object means no error
    return true;
  }

  bool start_object(size_t) override {
    if (stack_.empty()) is_object_ = true;
    switch (node()) {
      case Node::choices:
        ++choices_;
        index_.reset();
        text_.clear();
        finish_.clear();
        reasoning_bytes_ = parts_reasoning_bytes_ = 0;
        return enter(Node::choice);
      case Node::parts:
        part_type_.clear();
        part_text_.clear();
        return enter(Node::part);
      case Node::root:
        if (key_ == "error") return enter(Node::error);
        if (key_ == "usage") return enter(Node::usage);
        return enter(Node::ignored);
      case Node::usage:
        return enter(key_ == "prompt_tokens_details" ? Node::prompt : Node::ignored);
      case Node::choice:
        return enter(key_ == text_key_ ? Node::delta : Node::ignored);
      default:
        return enter(stack_.empty() ? Node::root : nested_node());
    }
  }

  bool start_array(size_t) override {
    if (node() == Node::root && key_ == "choices") return enter(Node::choices);
    if (node() == Node::delta && key_ == "content") return enter(Node::parts);
    return enter(nested_node());
  }

  bool end_object() override {
    if (node() == Node::part) {
      if (is_any_of(part_type_, {"", "text", "output_text"}))
        text_ += part_text_;
      else
        parts_reasoning_bytes_ += part_text_.size();
    }
    if (node() == Node::choice && index_.value_or(choices_ - 1) == 0) {
      chunk_.has_choice = true;
      chunk_.text += text_;
      chunk_.reasoning_bytes +=
          std::max(reasoning_bytes_,
                   parts_reasoning_bytes_);  // some servers send the same reasoning in two fields
      if (!finish_.empty()) chunk_.finish = std::move(finish_);
    }
    return end_array();
  }
  bool end_array() override {
    stack_.pop_back();
    return true;
  }

 private:
  Node node() const { return stack_.empty() ? Node::ignored : stack_.back(); }

  // The kind of a nested object or array that the parent does not know: reasoning or ignored.
  Node nested_node() const {
    if (node() == Node::reasoning) return Node::reasoning;
    const bool holds_reasoning = node() == Node::delta || node() == Node::part;
    return holds_reasoning && is_reasoning_key(key_) ? Node::reasoning : Node::ignored;
  }

  bool enter(Node node) {
    stack_.push_back(node);
    return stack_.size() <= kMaxDepth;
  }

  bool any_number(int64_t value) {
    if (node() == Node::choice && key_ == "index") index_ = value;
    if (key_ == "code" && (node() == Node::error || node() == Node::root)) chunk_.code = value;
    if (node() == Node::root && key_ == "error" && value != 0) chunk_.is_error = true;
    if (node() == Node::usage && key_ == "prompt_tokens") chunk_.prompt_tokens = value;
    if (node() == Node::usage && key_ == "completion_tokens") chunk_.completion_tokens = value;
    if (node() == Node::prompt && key_ == "cached_tokens") chunk_.cached_tokens = value;
    return true;
  }

  void set_code(std::string_view digits) {
    int64_t value = 0;
    const char* end = digits.data() + digits.size();
    if (std::from_chars(digits.data(), end, value).ptr == end) chunk_.code = value;
  }

  const std::string_view text_key_;
  ChatChunk chunk_;
  bool is_object_ = false;
  std::vector<Node> stack_;
  std::string key_;  // the last key in the innermost object, until a nested object has ended
  int64_t choices_ = 0;
  // The members below hold the current choice until its end, because its index may come last.
  std::optional<int64_t> index_;
  std::string text_;
  std::string finish_;
  size_t reasoning_bytes_ = 0;
  size_t parts_reasoning_bytes_ = 0;
  std::string part_type_;
  std::string part_text_;
};

std::optional<ChatChunk> read(std::string_view json, ChatShape shape) {
  ChatReader reader(shape);
  if (!Json::sax_parse(json, &reader) || !reader.is_object()) return {};
  return reader.chunk();
}

}  // namespace

Result<ChatChunk> read_chat_json(std::string_view json, ChatShape shape, const Secret& key) {
  if (auto chunk = read(json, shape)) return std::move(*chunk);
  STOKA_ASSIGN(const std::string mended, net::repair_json(mark_lone_surrogates(json), kMaxDepth));
  if (auto chunk = read(mended, shape)) return std::move(*chunk);
  const std::string message = net::error_message(json, key);
  return fail(ErrorKind::protocol, message.empty() ? "the model server sent no JSON"
                                                   : "the model server sent no JSON: " + message);
}

ChatDecoder::ChatDecoder(DeltaSink sink, ChatLimits limits, Secret key, ChatSettingNames names)
    : sink_(std::move(sink)), limits_(limits), key_(std::move(key)), names_(std::move(names)) {}

Result<> ChatDecoder::head(std::string_view content_type) {
  streamed_ = content_type == "text/event-stream";
  if (streamed_ || content_type == "application/json") return {};
  const std::string_view sent = content_type.empty() ? "no content type" : content_type;
  return fail(ErrorKind::protocol, fmt::format("answered with {} instead of an event stream", sent),
              "check that the address is that of an OpenAI-style server");
}

Result<net::BodyProgress> ChatDecoder::push(std::string_view bytes) {
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
  if (over_limit()) return net::BodyProgress::stop_reading;
  if (done_ || finished()) return net::BodyProgress::content_complete;
  return text_bytes_ + reasoning_bytes_ > 0 ? net::BodyProgress::content
                                            : net::BodyProgress::nothing_useful;
}

// Takes one event of the stream. Returns whether to go on decoding.
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
  if (chunk.finish.empty()) chunk.finish = "stop";  // a JSON text without a reason is complete
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
      0, text::floor_char_boundary(text, std::min(limits_.text - emitted_bytes_, text.size())));
  if (text.empty()) return;
  emitted_bytes_ += text.size();
  visible_ = visible_ || text.find_first_not_of(kAsciiWhitespace) != text.npos;
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
  const std::string think_less =
      fmt::format("raise {}, or turn thinking off with {}", names_.max_tokens, names_.extra);
  if (visible_) {
    const bool has_reason = !finish_.empty() && finish_ != "abort";
    const FinishReason finish = length       ? FinishReason::length
                                : has_reason ? FinishReason::complete
                                             : FinishReason::truncated;
    return ChatEnd{finish, cached_ ? 0 : prompt_tokens_, filter_.stray_tag()};
  }
  if (finish_ == "tool_calls" || finish_ == "function_call")
    return fail(ErrorKind::protocol, "the model called a tool, but there are no tools",
                "turn tools off in the model server, or choose another " + names_.model);
  if (reasoning_bytes() > 0 && over_limit())
    return fail(ErrorKind::config,
                fmt::format("the model thought for {} bytes without answering", reasoning_bytes()),
                "turn thinking off with " + names_.extra);
  if (reasoning_bytes() > 0 && length)
    return fail(ErrorKind::config,
                completion_tokens_ > 0
                    ? fmt::format("the model spent its {} tokens thinking", completion_tokens_)
                    : "the model spent all its tokens thinking",
                think_less);
  if (finish_.empty())
    return fail(ErrorKind::protocol, "the answer broke off before its first word",
                "ask again; the model server's log may say more");
  if (reasoning_bytes() > 0)
    return fail(ErrorKind::protocol, "the model thought but wrote no answer", think_less);
  return fail(ErrorKind::protocol, "the model wrote no answer", "ask again");
}

}  // namespace stoka::generate
