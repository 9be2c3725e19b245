#pragma once

#include <string>

namespace stoka {

// One message of a chat completion.
struct Message {
  std::string role;  // the role of the author: "system", "user" or "assistant"
  std::string content;
};

}  // namespace stoka
