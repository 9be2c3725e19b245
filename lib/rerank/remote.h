// Rerankers that ask a cross-encoder over HTTP: /rerank of text-embeddings-inference, or /v1/rerank
// in the style of Jina and Cohere, which llama.cpp and vLLM have as well.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "net/upstream.h"
#include "rerank/reranker.h"

namespace stoka::rerank {

struct RemoteRerankerOptions {
  std::string model;             // the model that requests name; if empty, they name none
  size_t max_hits = 64;          // how many hits are scored, counted from the best one
  size_t max_text_bytes = 6000;  // the size to which longer texts are cut, between two characters
  std::chrono::milliseconds budget{8000};  // the time for all requests of one score()
};

// Scores hits. If a score is outside [0,1], the scores are logits, and the sigmoid of each is
// taken. A hit is left without a score if its score is missing, null, not a number, or the value
// with which servers mark a failure. An index that is out of range or occurs twice is a protocol
// error. If a text is too long for the server, all texts are cut to half the length, twice at most.
class RemoteReranker : public Reranker {
 public:
  std::string name() const override;
  Result<Scores> score(std::string_view query, std::span<const Hit> hits,
                       std::stop_token stop) override;

 protected:
  // The upstream must outlive the reranker.
  RemoteReranker(std::string_view kind, net::Upstream& upstream, RemoteRerankerOptions options)
      : upstream_(upstream), options_(std::move(options)), kind_(kind) {}

  virtual std::string request_body(std::string_view query,
                                   std::span<const std::string> texts) const = 0;
  // Hints for error messages: what to configure if the server requires a model or does not have the
  // configured one, and if it does not have the endpoint.
  virtual std::string model_hint() const = 0;
  virtual std::string endpoint_hint() const = 0;

  net::Upstream& upstream_;
  const RemoteRerankerOptions options_;

 private:
  Error error_for(const net::HttpResponse& answer) const;

  std::string kind_;
};

class TeiReranker final : public RemoteReranker {
 public:
  TeiReranker(net::Upstream& upstream, RemoteRerankerOptions options)
      : RemoteReranker("tei", upstream, std::move(options)) {}

 protected:
  std::string request_body(std::string_view query,
                           std::span<const std::string> texts) const override;
  std::string model_hint() const override;
  std::string endpoint_hint() const override;
};

class JinaReranker final : public RemoteReranker {
 public:
  JinaReranker(net::Upstream& upstream, RemoteRerankerOptions options)
      : RemoteReranker("jina", upstream, std::move(options)) {}

 protected:
  std::string request_body(std::string_view query,
                           std::span<const std::string> texts) const override;
  std::string model_hint() const override;
  std::string endpoint_hint() const override;
};

// Returns one score for each text of the request. The body is a list of {"index", "score" or
// "relevance_score"} in any order, at the top level or under "results" or "data". A text has no
// score if the server left it out or sent null, something that is not a number, or a value below
// -1e5, the mark of a failure. The error is the end of a sentence: "sent index 3 twice".
tl::expected<Scores, std::string> parse_scores(std::string_view body, size_t texts);

// Maps scores to [0,1]. If one is outside by more than 0.001, the scores are logits, and each is
// replaced by its sigmoid. Otherwise the scores are clamped, since a small excess is a rounding
// error.
void normalize_scores(Scores& scores);

}  // namespace stoka::rerank
