// A model behind OpenAI-style /v1/chat/completions: vLLM, llama.cpp, Ollama, LM Studio, hosted
// services. What they do differently is told apart by what they send, not by name.
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
  std::string model;           // empty: the only one that the server lists under /v1/models
  std::string preferred = {};  // with an empty model: taken among several
  int max_tokens = 280;
  double temperature = 0.5;
  double top_p = 0.9;
  std::vector<std::string> stop = {"\nvisitor:", "</cite"};
  // Fields merged into every request, a JSON object, e.g.
  // {"chat_template_kwargs":{"enable_thinking":false}}; empty: none. They replace ours, null takes
  // one out. check_extra() (generate/chat_request.h) says whether it is one.
  std::string extra;
  FramingVoice framing_voice = {};
  std::chrono::milliseconds framing{5000};  // for frame()
};

class OpenAiGenerator final : public Generator {
 public:
  OpenAiGenerator(net::Upstream& upstream, OpenAiOptions options, Log& log);
  ~OpenAiGenerator() override;

  // "MODEL at http://localhost:8050/v1"; "a model at …" before the server's only one is known.
  std::string name() const override;
  bool reads_prompt() const override { return true; }
  // Ten seconds at most.
  Result<Probe> probe(std::stop_token stop) override;
  // What a model thinks is not passed on. A field that the server refuses by name (stream_options,
  // max_tokens, …) is left out or renamed, and the request made again. The total deadline of the
  // upstream is that of the whole answer, whatever number of requests it takes.
  Result<Finish> stream(const Request& request, const std::function<void()>& accepted,
                        const DeltaSink& sink, std::stop_token stop) override;
  Result<std::unique_ptr<Writing>> begin(const Request& request, std::stop_token stop) override;
  std::vector<std::optional<std::string>> frame(std::span<const Hit> hits,
                                                std::stop_token stop) override;

 private:
  struct State;
  class Answering;
  std::unique_ptr<State> state_;
};

}  // namespace stoka::generate
