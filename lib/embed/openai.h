// Embeddings by the OpenAI-style /v1/embeddings of vLLM, llama.cpp, Ollama, LM Studio and hosted
// services.
#pragma once

#include <string>

#include "embed/remote.h"

namespace stoka::embed {

struct OpenAiOptions {
  std::string model;   // empty: the only one that the server lists under /v1/models
  int dimensions = 0;  // asked of the server, which must obey; 0: the model's own
  size_t batch = 32;   // texts a request
};

// What the server refuses as too long, query or document, is embedded in parts. Ollama cuts it
// without a word.
class OpenAiEmbedder final : public RemoteEmbedder {
 public:
  OpenAiEmbedder(net::Upstream& upstream, OpenAiOptions options, const Clock& clock,
                 net::Milliseconds query_timeout = kQueryTimeout)
      : RemoteEmbedder("openai", upstream, clock, query_timeout), options_(std::move(options)) {}

 protected:
  // "openai:MODEL".
  Result<Server> meet(const net::TimeLeft& time, std::stop_token stop) override;
  net::Call request(std::span<const std::string> texts, Use use,
                    const Server& server) const override;
  tl::expected<Rows, std::string> read(std::string_view body) const override;
  Error refusal(const net::Answer& answer, const Server& server, const net::TimeLeft& time,
                std::stop_token stop) const override;

 private:
  Result<std::string> only_model(const net::TimeLeft& time, std::stop_token stop);

  OpenAiOptions options_;
};

}  // namespace stoka::embed
