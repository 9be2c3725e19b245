// The one place where parts are chosen and put together.
#pragma once

#include <functional>
#include <memory>

#include "app.h"
#include "cite/guard.h"
#include "ingest/chunker.h"
#include "pipeline/engine.h"
#include "providers.h"
#include "store/open.h"

namespace stoka::app {

// A store and everything that works on it. Not movable: the engine borrows the parts.
class Wired {
 public:
  Wired(App& app, std::unique_ptr<store::Store> store, golden::Golden golden, route::Router router,
        cite::GuardRules guard, std::unique_ptr<Providers> providers);
  Wired(const Wired&) = delete;

  store::Store& store() { return *store_; }
  Providers& providers() { return *providers_; }
  const golden::Golden& golden() const { return golden_; }
  pipeline::Engine& engine() { return engine_; }

 private:
  std::unique_ptr<store::Store> store_;
  golden::Golden golden_;
  route::Router router_;
  cite::GuardRules guard_;
  std::unique_ptr<Providers> providers_;
  pipeline::Engine engine_;
};

// Opens the configured store and wires the configured parts around it.
Result<std::unique_ptr<Wired>> wire(App& app, store::OpenMode mode);
// The same with a way of its own to open the store.
using OpenStore = std::function<Result<std::unique_ptr<store::Store>>()>;
Result<std::unique_ptr<Wired>> wire(App& app, const OpenStore& open);

// The configured parts without an engine; the store may be null.
Result<std::unique_ptr<Providers>> providers(App& app, store::Store* store);

ingest::ChunkOptions chunk_options(const Config& config);
pipeline::Settings pipeline_settings(const Config& config);

}  // namespace stoka::app
