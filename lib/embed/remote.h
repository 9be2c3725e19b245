// The base class of embedders that ask a server over HTTP.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "embed/batches.h"
#include "embed/embedder.h"
#include "embed/response.h"
#include "embed/ttl_cache.h"
#include "net/deadline.h"
#include "net/upstream.h"

namespace stoka::embed {

// Makes a model name from a server fit to be shown and stored: one line of at most 200 bytes.
std::string clean_model_name(std::string_view name);

// The deadline for embedding one query, however many requests that takes.
inline constexpr net::Milliseconds kQueryTimeout{10000};

class RemoteEmbedder : public Embedder {
 public:
  std::string name() const override;
  // Returns the identity, with the dimension of a probe text's vector. It is cached for a minute,
  // so that another model behind the same address is noticed.
  Result<Identity> identity(InputType type, std::stop_token stop) override;
  Result<Vector> embed_query(std::string_view text, std::stop_token stop) override;
  // Embeds texts. Fails with a config error if the server changes its model before the end.
  Result<Embeddings> embed_documents(std::span<const std::string> texts,
                                     const EmbedProgress& progress, std::stop_token stop) override;

 protected:
  struct ServerInfo {
    std::string model;  // the model's name as it is sent in requests
    Identity identity;  // name and dimension; 0 stands for the dimension of a probe text
    BatchLimits limits;
  };

  // The upstream and the clock must outlive the embedder.
  RemoteEmbedder(std::string_view kind, net::Upstream& upstream, const Clock& clock,
                 net::Milliseconds query_timeout)
      : upstream_(upstream),
        kind_(kind),
        query_timeout_(query_timeout),
        server_info_(clock, std::chrono::minutes(1)) {}

  // Asks the server for its model and limits.
  virtual Result<ServerInfo> fetch_info(const net::Deadline& deadline, std::stop_token stop) = 0;
  virtual net::Call make_request(std::span<const std::string> texts, InputType type,
                                 const ServerInfo& server) const = 0;
  // Reads a response. An error message continues a sentence about the server: "sent no JSON".
  virtual tl::expected<RawVectors, std::string> parse_response(std::string_view body) const = 0;

  // Returns the error for a request that an embedding server refused.
  virtual Error refusal_error(const net::HttpResponse& answer, const ServerInfo& server,
                              const net::Deadline& deadline, std::stop_token stop) const;

  // Sends the request with the rest of the deadline as its timeout. Without a deadline only the
  // upstream's own timeouts apply.
  Result<net::HttpResponse> send(net::Call call, const net::Deadline& deadline,
                                 std::stop_token stop);

  net::Upstream& upstream_;

 private:
  net::Deadline deadline_for(InputType type) const;
  Result<ServerInfo> server_info(const net::Deadline& deadline, std::stop_token stop);
  Result<BatchReply> send_batch(std::span<const std::string> texts, InputType type,
                                const ServerInfo& server, const net::Deadline& deadline,
                                std::stop_token stop);
  Result<Embeddings> embed(std::span<const std::string> texts, InputType type,
                           const EmbedProgress& progress, std::stop_token stop);
  Error error_for(const net::HttpResponse& answer, const ServerInfo& server,
                  const net::Deadline& deadline, std::stop_token stop) const;

  std::string kind_;
  net::Milliseconds query_timeout_;
  TtlCache<ServerInfo> server_info_;
};

}  // namespace stoka::embed
