// The answer of the fake model, and its form as a stream.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/upstream/endpoints.h"

namespace stoka::testing {

struct ChatAnswer {
  struct Choice {
    std::vector<std::string> thinking;
    std::vector<std::string> tokens;
    std::string finish;
  };
  std::vector<Choice> choices;
  bool hidden_thinking = false;
  nlohmann::json usage;
};

ChatAnswer chat_answer(const Context& context);

// Cuts a text into tokens of a few characters, in the middle of words and tags as tokenizers do.
std::vector<std::string> tokens(std::string_view text);
std::string joined(const std::vector<std::string>& tokens);

// An answer from the chunks in a prompt: it cites a sentence of the chunk at `index`, modulo their
// number.
std::string answer_from(const std::string& prompt, size_t index);
// One line about the first chunk of a prompt.
std::string line_from(const std::string& prompt);

// The answer as a stream in the form of the dialect.
FakeResponse stream_answer(const Context& context, const ChatAnswer& answer);

}  // namespace stoka::testing
