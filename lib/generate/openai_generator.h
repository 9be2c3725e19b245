// A generator that asks a model behind OpenAI-style /v1/chat/completions: vLLM, llama.cpp, Ollama,
// LM Studio or a hosted service. Differences between servers are detected in their responses.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "generate/framing.h"
#include "generate/generator.h"
#include "net/upstream.h"

namespace stoka::generate {

struct OpenAiOptions {
  std::string model;  // if empty, the only model that the server lists under /v1/models
  std::string preferred_model =
      {};  // if `model` is empty: the one to choose if the server lists several
  int max_tokens = 280;
  double temperature = 0.5;
  double top_p = 0.9;
  std::vector<std::string> stop = {"\nvisitor:", "</cite"};
  // Additional fields: a JSON object, or empty. They are merged into every request and override
  // stoka's own fields; null removes a field. E.g.
  // {"chat_template_kwargs":{"enable_thinking":false}}. check_extra() (generate/chat_request.h)
  // validates the text.
  std::string extra;
  FramingVoice framing_voice = {};
  std::chrono::milliseconds framing_timeout{5000};  // the timeout of frame()
};

class OpenAiGenerator final : public Generator {
 public:
  OpenAiGenerator(net::Upstream& upstream, OpenAiOptions options, Log& log);
  ~OpenAiGenerator() override;

  // A name such as "MODEL at http://localhost:8050/v1"; "a model at …" while the model is unknown.
  std::string name() const override;
  bool reads_prompt() const override { return true; }
  // Checks the server. Takes at most ten seconds.
  Result<std::string> probe(std::stop_token stop) override;
  // The model's reasoning is not passed on. If the server rejects a field by name (stream_options,
  // max_tokens, …), the field is removed or renamed and the request is repeated. The total timeout
  // of the upstream covers all requests of the answer.
  Result<std::unique_ptr<GenerationStream>> begin(const GenerationRequest& request,
                                                  std::stop_token stop) override;
  std::vector<std::optional<std::string>> frame(std::span<const Hit> hits,
                                                std::stop_token stop) override;

 private:
  struct State;
  class Stream;
  std::unique_ptr<State> state_;
};

}  // namespace stoka::generate
