// The configured embedder, reranker and generator, and the connections to their servers.
#pragma once

#include <memory>

#include "app.h"
#include "embed/embedder.h"
#include "generate/generator.h"
#include "net/http_client.h"
#include "net/upstream.h"
#include "rerank/reranker.h"
#include "store/store.h"

namespace stoka::app {

// The kind of an embedder, reranker or generator: the setting, or the default HTTP kind if only the
// address is set. A recording without either selects the replay generator.
std::string kind_in_effect(const Config& config, const std::string& role);

// Not movable, because the embedder, reranker and generator refer to members of this object.
class Providers {
 public:
  // Makes the providers without contacting a server. If the store is null, the built-in embedder
  // and reranker work without an index.
  static Result<std::unique_ptr<Providers>> make(App& app, store::Store* store,
                                                 const golden::Golden& golden);
  Providers(const Providers&) = delete;

  embed::Embedder& embedder() { return *embedder_; }
  rerank::Reranker& reranker() { return *reranker_; }
  generate::Generator& generator() { return *generator_; }
  // Makes another generator of the configured kind, with other golden data and for the same
  // server.
  Result<std::unique_ptr<generate::Generator>> generator_for(const golden::Golden& golden);
  // The servers that the embedder, reranker and generator use.
  const std::vector<std::unique_ptr<net::Upstream>>& upstreams() const { return upstreams_; }

 private:
  explicit Providers(App& app) : app_(app) {}
  Result<> open_transport();
  Result<net::Upstream*> upstream(const std::string& role, net::ApiRoot root);
  // Makes an embedder, reranker or generator that asks the server of its role.
  template <class Part, class... Options>
  Result<std::unique_ptr<Part>> with_server(const std::string& role, net::ApiRoot root,
                                            Options&&... options);
  Result<> make_embedder(store::Store* store);
  Result<> make_reranker(store::Store* store);

  App& app_;
  net::HttpClient client_;
  std::unique_ptr<net::Transport> tape_;  // a recorder or a replay; may be null
  net::Transport* transport_ = &client_;
  std::vector<std::unique_ptr<net::Upstream>> upstreams_;
  std::unique_ptr<embed::Embedder> embedder_;
  std::unique_ptr<rerank::Reranker> reranker_;
  std::unique_ptr<generate::Generator> generator_;
};

}  // namespace stoka::app
