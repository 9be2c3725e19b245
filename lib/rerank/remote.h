// Cross-encoders behind HTTP: text-embeddings-inference /rerank, and the Jina and Cohere style
// /v1/rerank that llama.cpp and vLLM speak too.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>

#include "net/upstream.h"
#include "rerank/reranker.h"

namespace stoka::rerank {

struct RemoteOptions {
  std::string model;                       // sent where it is not empty
  size_t most_hits = 64;                   // the best by retrieval are scored, the rest is unscored
  size_t most_text = 6000;                 // bytes of a hit's text, cut at a character
  std::chrono::milliseconds budget{8000};  // for the whole of score()
};

// Scores outside [0,1] are logits: then the sigmoid of each is taken. A hit whose score is missing,
// null, no number or a server's mark of failure is unscored. An index out of range or given twice
// is a protocol error. If texts are too long for the server all are cut in half, twice at most.
class RemoteReranker : public Reranker {
 public:
  std::string name() const override;
  Result<Scores> score(std::string_view query, std::span<const Hit> hits,
                       std::stop_token stop) override;

 protected:
  // The upstream must outlive it.
  RemoteReranker(std::string_view kind, net::Upstream& upstream, RemoteOptions options)
      : upstream_(upstream), options_(std::move(options)), kind_(kind) {}

  virtual std::string body(std::string_view query, std::span<const std::string> texts) const = 0;
  // Hints: for a server that wants a model named, or another one; for one without that endpoint.
  virtual std::string set_model() const = 0;
  virtual std::string set_kind() const = 0;

  net::Upstream& upstream_;
  const RemoteOptions options_;

 private:
  std::string where() const { return upstream_.who(); }
  Error meaning(const net::Answer& answer) const;

  std::string kind_;
};

class TeiReranker final : public RemoteReranker {
 public:
  TeiReranker(net::Upstream& upstream, RemoteOptions options)
      : RemoteReranker("tei", upstream, std::move(options)) {}

 protected:
  std::string body(std::string_view query, std::span<const std::string> texts) const override;
  std::string set_model() const override;
  std::string set_kind() const override;
};

class JinaReranker final : public RemoteReranker {
 public:
  JinaReranker(net::Upstream& upstream, RemoteOptions options)
      : RemoteReranker("jina", upstream, std::move(options)) {}

 protected:
  std::string body(std::string_view query, std::span<const std::string> texts) const override;
  std::string set_model() const override;
  std::string set_kind() const override;
};

}  // namespace stoka::rerank
