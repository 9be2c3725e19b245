#include "support/upstream/chat_answer.h"

#include <algorithm>

namespace stoka::testing {
namespace {

using nlohmann::json;

struct Found {
  std::string slug;
  std::string content;
};

// The chunks of a prompt: `<chunk slug="…" …>`, title, empty line, content, `</chunk>`.
std::vector<Found> chunks(const std::string& prompt) {
  static const std::string kOpen = "<chunk slug=\"";
  std::vector<Found> out;
  for (size_t at = prompt.find(kOpen); at != std::string::npos; at = prompt.find(kOpen, at)) {
    at += kOpen.size();
    const size_t quote = prompt.find('"', at), open = prompt.find(">\n", at);
    const size_t close = prompt.find("\n</chunk>", at), title = prompt.find("\n\n", open);
    if (quote > open || open > close || close == std::string::npos) break;
    const size_t content = title < close ? title + 2 : open + 2;
    out.push_back({prompt.substr(at, quote - at), prompt.substr(content, close - content)});
    at = close;
  }
  return out;
}

// The first sentence of at least 20 bytes on one line, or the beginning of the content.
std::string sentence(const std::string& content) {
  std::string text = content;
  std::replace(text.begin(), text.end(), '\n', ' ');
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool last = i + 1 == text.size() || text[i + 1] == ' ';
    if (!last || (text[i] != '.' && text[i] != '!' && text[i] != '?')) continue;
    if (i - begin >= 20) return text.substr(begin, i + 1 - begin);
    begin = std::min(i + 2, text.size());
  }
  return text.substr(0, text.find(' ', std::min<size_t>(text.size(), 60)));
}

// Escapes quotation marks only: in a prompt < > & are escaped already.
std::string attribute(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '"' ? std::string("&quot;") : std::string(1, c);
  return out;
}

std::string content_of(const json& message) {
  const json content = message.value("content", json());
  if (content.is_string()) return content.get<std::string>();
  std::string out;
  if (content.is_array())
    for (const json& part : content)
      if (part.is_object() && part.value("text", json()).is_string())
        out += part["text"].get<std::string>();
  return out;
}

size_t max_tokens(const json& body) {
  for (const char* name : {"max_completion_tokens", "max_tokens"})
    if (body.value(name, json()).is_number_unsigned()) return body[name].get<size_t>();
  return std::string::npos;
}

json usage(const Context& context, size_t prompt, size_t completion, size_t thought) {
  const auto asked = static_cast<int64_t>(prompt), said = static_cast<int64_t>(completion);
  const int64_t read = context.behaviour.prompt_tokens.value_or(asked);
  json out = {{"prompt_tokens", read}, {"completion_tokens", said}, {"total_tokens", read + said}};
  if (context.dialect() == "openai")
    out["completion_tokens_details"] = {{"reasoning_tokens", thought}};
  return out;
}

}  // namespace

std::vector<std::string> tokens(std::string_view text) {
  static const size_t kLengths[] = {4, 2, 6, 3, 7, 1, 5};
  std::vector<std::string> out;
  for (size_t i = 0; !text.empty(); ++i) {
    size_t end = 0;
    for (size_t n = kLengths[i % std::size(kLengths)]; n > 0 && end < text.size(); --n) do
        ++end;
      while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80);
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return out;
}

std::string joined(const std::vector<std::string>& list) {
  std::string out;
  for (const std::string& token : list) out += token;
  return out;
}

std::string answer_from(const std::string& prompt, size_t index) {
  const std::vector<Found> all = chunks(prompt);
  if (all.empty()) return "nothing to hand over. what else?";
  const Found& chunk = all[index % all.size()];
  return "short answer about it. <cite slug=\"" + chunk.slug + "\" quote=\"" +
         attribute(sentence(chunk.content)) + "\"/> which part do you doubt?";
}

std::string line_from(const std::string& prompt) {
  const std::vector<Found> all = chunks(prompt);
  if (!all.empty()) return "a line about " + all[0].slug + ".";
  const size_t end = prompt.find_last_not_of(" \n.:?!");
  if (end == std::string::npos) return "a line about nothing.";
  const std::string text = prompt.substr(0, end + 1);
  return "a line about " + text.substr(text.find_last_of(" \n") + 1) + ".";
}

ChatAnswer chat_answer(const Context& context) {
  const json& body = context.request.json;
  const Behaviour& behaviour = context.behaviour;
  std::string prompt;
  size_t length = 0;
  for (const json& message : body["messages"]) {
    const std::string content = content_of(message);
    length += content.size();
    if (message.value("role", json()) == json("system")) prompt += content + "\n";
  }
  ChatAnswer out;
  out.hidden_thinking = context.dialect() == "openai";
  const json n = body.value("n", json(1));
  const size_t count = n.is_number_unsigned() ? std::clamp<size_t>(n.get<size_t>(), 1, 64) : 1;
  size_t said = 0, thought = 0;
  for (size_t i = 0; i < count; ++i) {
    std::string text = answer_from(prompt, i);
    if (!behaviour.answers.empty())
      text = behaviour.answers[std::min(i, behaviour.answers.size() - 1)];
    if (behaviour.think_tags) text = "<think>" + behaviour.reasoning + "</think>\n\n" + text;
    ChatAnswer::Choice choice{{}, tokens(text), behaviour.finish};
    if (!behaviour.think_tags) choice.thinking = tokens(behaviour.reasoning);
    if (choice.tokens.size() > max_tokens(body)) {
      choice.tokens.resize(max_tokens(body));
      choice.finish = "length";
    }
    said += choice.tokens.size() + choice.thinking.size();
    thought += choice.thinking.size();
    out.choices.push_back(std::move(choice));
  }
  out.usage = usage(context, length / 4 + 1, said, thought);
  return out;
}

}  // namespace stoka::testing
