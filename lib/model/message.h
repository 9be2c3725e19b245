#pragma once

#include <string>

namespace stoka {

// One message of a chat completion.
struct Message {
  std::string role;  // "system", "user", "assistant"
  std::string content;
};

}  // namespace stoka
