// An embedder that asks an OpenAI-style /v1/embeddings endpoint, which vLLM, llama.cpp, Ollama, LM
// Studio and hosted services have.
#pragma once

#include <string>

#include "embed/remote.h"

namespace stoka::embed {

struct OpenAiOptions {
  std::string model;   // if empty, the only model that the server lists under /v1/models
  int dimensions = 0;  // the dimension to request and check; 0 for the dimension of the model
  size_t batch = 32;   // the most texts in one request
};

// A query or document that the server refuses as too long is embedded in parts (see
// embed_in_batches()). Ollama does not refuse such a text, but truncates it silently.
class OpenAiEmbedder final : public RemoteEmbedder {
 public:
  OpenAiEmbedder(net::Upstream& upstream, OpenAiOptions options, const Clock& clock,
                 net::Milliseconds query_timeout = kQueryTimeout)
      : RemoteEmbedder("openai", upstream, clock, query_timeout), options_(std::move(options)) {}

 protected:
  // Returns the model with an identity whose name is "openai:MODEL".
  Result<ServerInfo> fetch_info(const net::Deadline& deadline, std::stop_token stop) override;
  net::Call make_request(std::span<const std::string> texts, InputType type,
                         const ServerInfo& server) const override;
  tl::expected<RawVectors, std::string> parse_response(std::string_view body) const override;
  Error refusal_error(const net::HttpResponse& answer, const ServerInfo& server,
                      const net::Deadline& deadline, std::stop_token stop) const override;

 private:
  Result<std::string> fetch_only_model(const net::Deadline& deadline, std::stop_token stop);

  OpenAiOptions options_;
};

}  // namespace stoka::embed
