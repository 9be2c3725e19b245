// An embedder that asks the /embed endpoint of a text-embeddings-inference server.
#pragma once

#include "embed/remote.h"

namespace stoka::embed {

// An embedder within the limits of the server's /info. A document that is too long is embedded in
// parts (see embed_in_batches()), never truncated; the server truncates a query that is too long.
class TeiEmbedder final : public RemoteEmbedder {
 public:
  TeiEmbedder(net::Upstream& upstream, const Clock& clock,
              net::Milliseconds query_timeout = kQueryTimeout)
      : RemoteEmbedder("tei", upstream, clock, query_timeout) {}

 protected:
  // Reads /info. The name of the identity is "tei:MODEL@SHA" with the first eight digits of the
  // revision, or "tei:MODEL" without a revision. Fails with a config error if the server has
  // no /info, and with a protocol error if /info cannot be read.
  Result<ServerInfo> fetch_info(const net::Deadline& deadline, std::stop_token stop) override;
  net::Call make_request(std::span<const std::string> texts, InputType type,
                         const ServerInfo& server) const override;
  tl::expected<RawVectors, std::string> parse_response(std::string_view body) const override;
};

}  // namespace stoka::embed
