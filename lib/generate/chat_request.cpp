#include "generate/chat_request.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/ascii.h"
#include "base/json.h"
#include "net/json_text.h"

namespace stoka::generate {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::string_view kSamplingFields[] = {"temperature", "top_p", "stop"};
constexpr std::string_view kOptionalFields[] = {
    "stream_options", "max_tokens", "max_completion_tokens", "temperature", "top_p", "stop",
};
// Words by which servers say that they do not accept a field, or only not its value.
constexpr std::string_view kNotAcceptedWords[] = {
    "unsupported", "not support", "unrecognized", "unrecognised", "unknown",
    "unexpected",  "not allow",   "not permit",   "extra inputs", "extra fields",
};
constexpr std::string_view kValueWords[] = {"too large", "too long", "at most", "exceed"};

bool is_name_character(char c) { return is_ascii_alnum(c) || c == '_'; }

bool has_any(std::string_view text, std::span<const std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.find(word) != text.npos; });
}

// The server's message, in lower case, and the field it names.
struct ErrorBody {
  std::string message;
  std::string param;  // the name of the field that the error is about
};

ErrorBody read_error_body(std::string_view body) {
  ErrorBody out{to_lower(net::error_message(body)), {}};
  const auto mended = net::repair_json(body);
  const OrderedJson json = OrderedJson::parse(mended.value_or(""), nullptr, false);
  const bool has_error = json.is_object() && json.contains("error") && json["error"].is_object();
  const OrderedJson& error = has_error ? json["error"] : json;
  if (error.is_object() && error.contains("param") && error["param"].is_string())
    out.param = error["param"].get<std::string>();
  return out;
}

// The position of a field's name in the text. A name that is also an English word counts only in
// quotes or in a path ("body.stop: …").
size_t find_name(std::string_view text, std::string_view name) {
  const bool is_word = name.find('_') == name.npos;
  for (size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    const char before = at > 0 ? text[at - 1] : ' ';
    const size_t end = at + name.size();
    const char after = end < text.size() ? text[end] : ' ';
    const bool quoted = before == '\'' || before == '"' || before == '`' || before == '.';
    if (!is_name_character(before) && !is_name_character(after) && (quoted || !is_word)) return at;
  }
  return text.npos;
}

Result<OrderedJson> parse_extra(std::string_view extra) {
  if (extra.empty()) return OrderedJson::object();
  const auto mended = net::repair_json(extra);
  OrderedJson json = OrderedJson::parse(mended.value_or(""), nullptr, false);
  if (json.is_object()) return json;
  return fail(ErrorKind::config, "is not a JSON object",
              R"(write it like {"chat_template_kwargs":{"enable_thinking":false}})");
}

void add_sampling(OrderedJson& body, int max_tokens, std::span<const std::string> stop,
                  const OpenAiOptions& options) {
  if (max_tokens > 0) body["max_tokens"] = max_tokens;
  body["temperature"] = options.temperature;
  body["top_p"] = options.top_p;
  if (!stop.empty()) body["stop"] = std::vector<std::string>(stop.begin(), stop.end());
}

Result<std::string> serialize(OrderedJson body, const OpenAiOptions& options,
                              const RejectedFields& rejected) {
  if (rejected.contains("max_tokens") && body.contains("max_tokens"))
    body["max_completion_tokens"] = body["max_tokens"];
  for (const std::string& field : rejected) body.erase(field);
  STOKA_ASSIGN(OrderedJson extra, parse_extra(options.extra));
  for (auto& [field, value] : extra.items()) {
    if (value.is_null())
      body.erase(field);
    else
      body[field] = std::move(value);
  }
  return to_json_text(body);
}

}  // namespace

bool is_context_overflow(std::string_view body) {
  static constexpr std::string_view kWords[] = {"context length", "context_length", "context size",
                                                "context_size", "context window"};
  return has_any(read_error_body(body).message, kWords);
}

bool is_output_limit(std::string_view body) {
  return read_error_body(body).message.find("output limit was reached") != std::string::npos;
}

bool is_sampling_field(std::string_view field) {
  return std::find(std::begin(kSamplingFields), std::end(kSamplingFields), field) !=
         std::end(kSamplingFields);
}

void reject_sampling_fields(RejectedFields& rejected) {
  rejected.insert(std::begin(kSamplingFields), std::end(kSamplingFields));
}

std::string rejected_field(std::string_view body, const RejectedFields& rejected) {
  const auto [message, param] = read_error_body(body);
  if (!has_any(message, kNotAcceptedWords) || has_any(message, kValueWords)) return {};
  size_t first = message.npos;
  std::string out;
  for (const std::string_view name : kOptionalFields) {
    if (rejected.contains(name)) continue;
    // A server that rejects max_tokens names max_completion_tokens as the replacement.
    if (name == "max_completion_tokens" && !rejected.contains("max_tokens")) continue;
    const size_t at = param == name ? 0 : find_name(message, name);
    if (at >= first) continue;
    first = at;
    out = name;
  }
  return out;
}

Result<> check_extra(std::string_view extra) {
  STOKA_TRY(parse_extra(extra));
  return {};
}

Result<std::string> chat_body(const ChatParameters& parameters, const OpenAiOptions& options,
                              const RejectedFields& rejected) {
  OrderedJson body = OrderedJson::object();
  if (!parameters.model.empty()) body["model"] = parameters.model;
  OrderedJson& messages = body["messages"] = OrderedJson::array();
  for (const Message& message : parameters.messages)
    messages.push_back(OrderedJson{{"role", message.role}, {"content", message.content}});
  body["stream"] = parameters.stream;
  if (parameters.stream) body["stream_options"]["include_usage"] = true;
  add_sampling(body, parameters.max_tokens, parameters.stop, options);
  return serialize(std::move(body), options, rejected);
}

Result<std::string> completions_body(std::string_view model, std::span<const std::string> prompts,
                                     int max_tokens, const OpenAiOptions& options,
                                     const RejectedFields& rejected) {
  static const std::string kLineEnd = "\n";
  OrderedJson body = OrderedJson::object();
  if (!model.empty()) body["model"] = model;
  body["prompt"] = std::vector<std::string>(prompts.begin(), prompts.end());
  add_sampling(body, max_tokens, {&kLineEnd, 1}, options);
  return serialize(std::move(body), options, rejected);
}

}  // namespace stoka::generate
