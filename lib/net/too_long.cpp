#include "net/too_long.h"

#include <algorithm>

#include "net/json_text.h"

namespace stoka::net {
namespace {

// "must have less than 512 tokens", "input (596 tokens) is too large to process", "the input length
// exceeds the context length", "exceeds the available context size". Not "tokenizer error".
constexpr std::string_view kWords[] = {"tokens", "too large", "too long", "length", "context size"};

}  // namespace

bool too_long(const Answer& answer) {
  if (answer.status == 413) return true;
  if (answer.status != 400 && answer.status != 422 && answer.status != 500) return false;
  std::string message = error_message(answer.body);
  std::transform(message.begin(), message.end(), message.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return std::any_of(std::begin(kWords), std::end(kWords), [&](std::string_view word) {
    return message.find(word) != std::string::npos;
  });
}

}  // namespace stoka::net
