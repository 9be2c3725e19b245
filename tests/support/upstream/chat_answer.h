// What the fake model says, before it is put into chunks.
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

// A few characters each, as tokenizers cut: words and tags in the middle.
std::vector<std::string> tokens(std::string_view text);
std::string joined(const std::vector<std::string>& tokens);

// From the retrieved content in a prompt: the slug and a sentence of the chunk at `index` (of as
// many as there are), cited.
std::string answer_from(const std::string& prompt, size_t index);
// One line about it.
std::string line_from(const std::string& prompt);

}  // namespace stoka::testing
