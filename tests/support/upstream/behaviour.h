// A parsed behaviour: how the fake server responds to some requests.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/upstream/fake_upstream.h"
#include "support/upstream/messages.h"

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
  int status = 0;  // 0: the usual one
  std::string message;
  std::optional<std::string> retry_after;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string content_type;
  std::optional<std::string> body;
  Milliseconds delay{0};
  Milliseconds first_token{0};
  Milliseconds token_delay{0};
  size_t piece = 0;  // bytes in one write; 0: all
  std::optional<Milliseconds> pause;
  std::string fault;
  std::optional<size_t> after;
  std::vector<std::string> fields;

  // Throws std::invalid_argument, which says what is wrong.
  static Behaviour parse(const std::string& json);
  bool matches(const FakeRequest& request) const;
};

// The kind of a request: "info", "health", "models", "embed" (either endpoint), "rerank",
// "completion", "chat" (not streamed), "stream" (a streamed chat), "other".
std::string request_kind(const FakeRequest& request);

}  // namespace stoka::testing
