// The endpoints chat/completions and completions.
#include <algorithm>

#include "support/upstream/chat_answer.h"

namespace stoka::testing {
namespace {

using nlohmann::json;

FakeResponse whole(const Context& context, const ChatAnswer& answer) {
  const std::string& dialect = context.dialect();
  json choices = json::array();
  for (size_t i = 0; i < answer.choices.size(); ++i) {
    const ChatAnswer::Choice& choice = answer.choices[i];
    std::string text = joined(choice.tokens);
    if (context.fault("invalid_utf8")) text += kBytes;
    json message = {{"role", "assistant"}, {"content", text}};
    if (!choice.thinking.empty() && !answer.hidden_thinking)
      message[dialect == "llamacpp" || dialect == "lmstudio" ? "reasoning_content" : "reasoning"] =
          joined(choice.thinking);
    if (dialect == "openai") message["refusal"] = nullptr;
    choices.push_back({{"index", i}, {"message", message}, {"finish_reason", choice.finish}});
  }
  const json body = {{"id", "chatcmpl-1"},    {"object", "chat.completion"},
                     {"created", 1700000000}, {"model", context.model()},
                     {"choices", choices},    {"usage", answer.usage}};
  return FakeResponse::text(
      insert_malformed(body.dump(-1, ' ', false, json::error_handler_t::replace)), 200,
      "application/json");
}

bool are_messages(const json& list) {
  return list.is_array() && !list.empty() &&
         std::all_of(list.begin(), list.end(), [](const json& entry) {
           return entry.is_object() && entry.contains("role") && entry.contains("content");
         });
}

}  // namespace

FakeResponse chat(const Context& context) {
  const json& body = context.request.json;
  if (!are_messages(body.value("messages", json())))
    return error(context, 400, "messages must be a list of objects with role and content");
  const ChatAnswer answer = chat_answer(context);
  const bool streamed = body.value("stream", json()) == json(true);
  return streamed && !context.fault("no_stream") ? stream_answer(context, answer)
                                                 : whole(context, answer);
}

FakeResponse completion(const Context& context) {
  const json& body = context.request.json;
  const json prompt = body.value("prompt", json());
  if (prompt.is_array() && context.dialect() == "ollama")
    return error(context, 400,
                 "json: cannot unmarshal array into Go struct field CompletionRequest.prompt of "
                 "type string");
  std::vector<std::string> prompts;
  if (prompt.is_string()) prompts.push_back(prompt.get<std::string>());
  if (prompt.is_array())
    for (const json& entry : prompt)
      if (entry.is_string()) prompts.push_back(entry.get<std::string>());
  if (prompts.empty() || (prompt.is_array() && prompts.size() != prompt.size()))
    return error(context, 400, "prompt must be a string or a list of strings");
  if (body.value("stream", json()) == json(true))
    return error(context, 400, "this server streams chat/completions only");
  const Behaviour& behaviour = context.behaviour;
  json choices = json::array();
  // In reverse order, so that a client must use the index.
  for (size_t i = prompts.size(); i-- > 0;) {
    std::string text = line_from(prompts[i]);
    if (!behaviour.answers.empty())
      text = behaviour.answers[std::min(i, behaviour.answers.size() - 1)];
    if (context.fault("invalid_utf8")) text += kBytes;
    choices.push_back(
        {{"index", i}, {"text", text}, {"logprobs", nullptr}, {"finish_reason", behaviour.finish}});
  }
  if (context.fault("wrong_count")) choices.erase(choices.end() - 1);
  if (context.fault("bad_index") && !choices.empty()) choices[0]["index"] = prompts.size() + 7;
  if (context.fault("duplicate_index") && !choices.empty()) {
    if (choices.size() == 1) choices.push_back(choices[0]);
    choices[0]["index"] = choices.back()["index"];
  }
  const json out = {
      {"id", "cmpl-1"},        {"object", "text_completion"},
      {"created", 1700000000}, {"model", context.model()},
      {"choices", choices},    {"usage", {{"prompt_tokens", 7}, {"completion_tokens", 7}}}};
  return FakeResponse::text(
      insert_malformed(out.dump(-1, ' ', false, json::error_handler_t::replace)), 200,
      "application/json");
}

}  // namespace stoka::testing
