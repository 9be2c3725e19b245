// Embeddings from a text-embeddings-inference server, by its own /embed.
#pragma once

#include "embed/remote.h"

namespace stoka::embed {

// Keeps to the limits that /info names. Documents are never cut silently: what is too long is
// embedded in parts (their mean, by length, scaled to unit length); a query is cut at its end.
class TeiEmbedder final : public RemoteEmbedder {
 public:
  TeiEmbedder(net::Upstream& upstream, const Clock& clock,
              net::Milliseconds query_timeout = kQueryTimeout)
      : RemoteEmbedder("tei", upstream, clock, query_timeout) {}

 protected:
  // "tei:MODEL@SHA" of /info (the sha's first eight digits; none where the server gives none). A
  // config error if there is no such /info, a protocol error if that makes no sense.
  Result<Server> meet(const net::TimeLeft& time, std::stop_token stop) override;
  net::Call request(std::span<const std::string> texts, Use use,
                    const Server& server) const override;
  tl::expected<Rows, std::string> read(std::string_view body) const override;
};

}  // namespace stoka::embed
