// The JSON of requests to a model, for a chat completion or for a completion of several prompts,
// and the parsing of responses that reject a request.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "generate/openai_generator.h"

namespace stoka::generate {

// Fields that a server rejects, and that are therefore left out. Instead of a rejected
// "max_tokens", "max_completion_tokens" is sent, until that is rejected too.
using RejectedFields = std::set<std::string, std::less<>>;

// The next three functions read only the server's message in an error body, because some servers
// repeat the whole request in the rest of it.

// The optional field that the server rejects and that is not yet in `rejected`. Empty if there is
// none, or if the message is about the field's value.
std::string rejected_field(std::string_view body, const RejectedFields& rejected);
// Whether the prompt exceeds the model's context length.
bool is_context_overflow(std::string_view body);
// Whether the model reached its token limit before it wrote any text.
bool is_output_limit(std::string_view body);

// Functions for temperature, top_p and stop: a model that rejects one usually rejects all.
bool is_sampling_field(std::string_view field);
void reject_sampling_fields(RejectedFields& rejected);

// Fails with a config error unless `extra` is empty or a JSON object. The message of the error is
// the end of a sentence about the setting: "is not a JSON object".
Result<> check_extra(std::string_view extra);

struct ChatParameters {
  std::string_view model;  // if empty, the field is not sent
  std::span<const Message> messages;
  int max_tokens = 0;  // if zero, no limit is sent
  bool stream = true;
  std::span<const std::string> stop = {};
};

// Fields of options.extra override other fields; null removes a field. Fails like check_extra().
Result<std::string> chat_body(const ChatParameters& parameters, const OpenAiOptions& options,
                              const RejectedFields& rejected);

// Asks for a completion of one line for each prompt.
Result<std::string> completions_body(std::string_view model, std::span<const std::string> prompts,
                                     int max_tokens, const OpenAiOptions& options,
                                     const RejectedFields& rejected);

}  // namespace stoka::generate
