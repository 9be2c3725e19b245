// Makes the configured embedder, reranker and generator, and assembles the pipeline from them.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "app.h"
#include "cite/voice_guard.h"
#include "ingest/chunker.h"
#include "pipeline/engine.h"
#include "providers.h"
#include "store/open.h"

namespace stoka::app {

// A store, the golden data, the providers, and the engine that uses them. Not movable, because the
// engine refers to the other members.
class Runtime {
 public:
  // Golden data and the objects that are made from it.
  struct Voice {
    golden::Golden golden;
    route::Router router;
    cite::GuardRules guard;
    std::unique_ptr<generate::Generator> generator = {};  // null: the providers' generator
  };

  Runtime(App& app, std::unique_ptr<store::Store> store, std::unique_ptr<Voice> voice,
          std::unique_ptr<Providers> providers);
  Runtime(const Runtime&) = delete;

  store::Store& store() { return *store_; }
  Providers& providers() { return *providers_; }
  const golden::Golden& golden() const { return voices_.back()->golden; }
  pipeline::Engine& engine() { return engine_; }
  // Loads the golden data again. Later turns use the new data, turns under way the old data. If the
  // new data is invalid, nothing changes. Only one thread may call this function and golden().
  Result<> reload_golden(const App& app);

 private:
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<Providers> providers_;
  // All voices that were loaded, the newest last. Turns under way may refer to an older one.
  std::vector<std::unique_ptr<Voice>> voices_;
  pipeline::Engine engine_;
};

// Opens the configured store and makes the configured parts for it.
Result<std::unique_ptr<Runtime>> make_runtime(App& app, store::OpenMode mode);
// Opens the store with the given function, and makes the configured parts for it.
using OpenStore = std::function<Result<std::unique_ptr<store::Store>>()>;
Result<std::unique_ptr<Runtime>> make_runtime(App& app, const OpenStore& open);

// Makes the configured parts without an engine; the store may be null.
Result<std::unique_ptr<Providers>> make_providers(App& app, store::Store* store);

ingest::ChunkOptions chunk_options(const Config& config, const embed::Embedder& embedder);
// Returns the identity of an index, but without the name and the dimension of the embedder, which
// the embedder itself supplies.
store::IndexIdentity index_identity(const Config& config, const embed::Embedder& embedder);
rerank::PolicyOptions policy_options(const Config& config);
rerank::ConfidenceThresholds confidence_thresholds(const Config& config);

}  // namespace stoka::app
