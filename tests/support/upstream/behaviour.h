// A behaviour, parsed.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/upstream/answer.h"
#include "support/upstream/fake_upstream.h"

namespace stoka::testing {

struct Behaviour {
  using Milliseconds = std::chrono::milliseconds;

  std::string path;
  size_t times = 1;  // 0: always
  std::string dialect;
  std::string model;
  std::vector<std::string> answers;
  std::string reasoning;
  bool think_tags = false;
  std::string finish = "stop";
  std::optional<int64_t> prompt_tokens;
  int status = 0;  // 0: as it comes
  std::string message;
  std::optional<std::string> retry_after;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string content_type;
  std::optional<std::string> body;
  Milliseconds delay{0};
  Milliseconds first_token{0};
  Milliseconds token_delay{0};
  size_t piece = 0;  // 0: whole
  std::optional<Milliseconds> pause;
  std::string fault;
  std::optional<size_t> after;
  std::vector<std::string> fields;

  // Throws std::invalid_argument.
  static Behaviour parse(const std::string& json);
  bool fits(const Ask& ask) const;
};

// "info", "health", "models", "embed" (either endpoint), "rerank", "completion", "chat" (whole),
// "stream" (a chat), "other".
std::string kind(const Ask& ask);

}  // namespace stoka::testing
