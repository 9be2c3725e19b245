// The JSON that asks a model: a chat completion, or a completion of several prompts.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "generate/openai.h"

namespace stoka::generate {

// Fields that a server has refused by name; they are left out. Without "max_tokens",
// "max_completion_tokens" is sent in its place, until that is refused too.
using RefusedFields = std::set<std::string, std::less<>>;

// The field that a refusal names, of those that can be left out and have not been; empty: none, or
// the prompt is too long, which no field mends.
std::string refused_field(std::string_view refusal, const RefusedFields& refused);

// Whether a refusal says that the prompt does not fit the model.
bool names_context(std::string_view refusal);

// A config error unless it is empty or a JSON object.
Result<> check_extra(std::string_view extra);

struct ChatAsk {
  std::string_view model;  // empty: the field is not sent
  std::span<const Message> messages;
  int max_tokens = 0;  // 0: no limit is sent
  bool stream = true;
  std::span<const std::string> stop = {};
};

// Fields of options.extra replace ours; null there takes one out. Errors as of check_extra().
Result<std::string> chat_body(const ChatAsk& ask, const OpenAiOptions& options,
                              const RefusedFields& refused);

// One completion, of one line, for each prompt.
Result<std::string> completions_body(std::string_view model, std::span<const std::string> prompts,
                                     int max_tokens, const OpenAiOptions& options,
                                     const RefusedFields& refused);

}  // namespace stoka::generate
