// The JSON that asks a model: a chat completion, or a completion of several prompts.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "generate/openai.h"

namespace stoka::generate {

// Fields that a server does not know or take; they are left out. Without "max_tokens",
// "max_completion_tokens" is sent in its place, until that is refused too.
using RefusedFields = std::set<std::string, std::less<>>;

// These read what the server says in the body of a refusal, never the rest of it: some repeat the
// whole request there.
//
// The field that it does not know or take, of those that can be left out and have not been; empty:
// none, or it is about the field's value.
std::string refused_field(std::string_view body, const RefusedFields& refused);
// Whether the prompt does not fit the model.
bool names_context(std::string_view body);
// Whether the model was at work and got to the end of its tokens before it had said anything.
bool names_output_limit(std::string_view body);

// Temperature, top_p and stop: models that do not take one mostly take none.
bool is_sampling(std::string_view field);
// Leaves all of them out.
void refuse_sampling(RefusedFields& refused);

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
