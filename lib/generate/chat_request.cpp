#include "generate/chat_request.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "net/json_text.h"

namespace stoka::generate {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kMayBeLeftOut[] = {
    "stream_options", "max_tokens", "max_completion_tokens", "temperature", "top_p", "stop",
};

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Where the text names a field. One that is a word of the language must be in quotes.
size_t find_name(std::string_view text, std::string_view name) {
  const bool is_word = name.find('_') == name.npos;
  for (size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    const char before = at > 0 ? text[at - 1] : ' ';
    const size_t end = at + name.size();
    const char after = end < text.size() ? text[end] : ' ';
    const bool quoted = before == '\'' || before == '"' || before == '`';
    if (!is_name(before) && !is_name(after) && (quoted || !is_word)) return at;
  }
  return text.npos;
}

Result<Json> parse_extra(std::string_view extra) {
  if (extra.empty()) return Json::object();
  const auto mended = net::mend_json(extra);
  Json json = Json::parse(mended.value_or(""), nullptr, false);
  if (json.is_object()) return json;
  return fail(ErrorKind::config, "generator.extra is not a JSON object",
              R"(write it like {"chat_template_kwargs":{"enable_thinking":false}})");
}

void add_sampling(Json& body, int max_tokens, std::span<const std::string> stop,
                  const OpenAiOptions& options) {
  if (max_tokens > 0) body["max_tokens"] = max_tokens;
  body["temperature"] = options.temperature;
  body["top_p"] = options.top_p;
  if (!stop.empty()) body["stop"] = std::vector<std::string>(stop.begin(), stop.end());
}

Result<std::string> finished(Json body, const OpenAiOptions& options,
                             const RefusedFields& refused) {
  if (refused.contains("max_tokens") && body.contains("max_tokens"))
    body["max_completion_tokens"] = body["max_tokens"];
  for (const std::string& field : refused) body.erase(field);
  STOKA_ASSIGN(Json extra, parse_extra(options.extra));
  for (auto& [field, value] : extra.items()) {
    if (value.is_null())
      body.erase(field);
    else
      body[field] = std::move(value);
  }
  return body.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

bool names_context(std::string_view refusal) {
  for (const std::string_view sign :
       {"context length", "context_length", "context size", "context_size", "context window"})
    if (refusal.find(sign) != refusal.npos) return true;
  return false;
}

std::string refused_field(std::string_view refusal, const RefusedFields& refused) {
  if (names_context(refusal)) return {};
  size_t first = refusal.npos;
  std::string out;
  for (const std::string_view name : kMayBeLeftOut) {
    if (refused.contains(name)) continue;
    // A server that refuses max_tokens names this one as what it wants instead.
    if (name == "max_completion_tokens" && !refused.contains("max_tokens")) continue;
    const size_t at = find_name(refusal, name);
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

Result<std::string> chat_body(const ChatAsk& ask, const OpenAiOptions& options,
                              const RefusedFields& refused) {
  Json body = Json::object();
  if (!ask.model.empty()) body["model"] = ask.model;
  Json& messages = body["messages"] = Json::array();
  for (const Message& message : ask.messages)
    messages.push_back(Json{{"role", message.role}, {"content", message.content}});
  body["stream"] = ask.stream;
  if (ask.stream) body["stream_options"]["include_usage"] = true;
  add_sampling(body, ask.max_tokens, ask.stop, options);
  return finished(std::move(body), options, refused);
}

Result<std::string> completions_body(std::string_view model, std::span<const std::string> prompts,
                                     int max_tokens, const OpenAiOptions& options,
                                     const RefusedFields& refused) {
  static const std::string kLineEnd = "\n";
  Json body = Json::object();
  if (!model.empty()) body["model"] = model;
  body["prompt"] = std::vector<std::string>(prompts.begin(), prompts.end());
  add_sampling(body, max_tokens, {&kLineEnd, 1}, options);
  return finished(std::move(body), options, refused);
}

}  // namespace stoka::generate
