// Everything a turn needs, wired by the app. The only room that sees every stage.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "cite/guard.h"
#include "embed/embedder.h"
#include "generate/generator.h"
#include "golden/golden.h"
#include "pipeline/catalog.h"
#include "prompt/prompt.h"
#include "rerank/confidence.h"
#include "rerank/policy.h"
#include "rerank/reranker.h"
#include "retrieve/retriever.h"
#include "route/router.h"
#include "session/interests.h"
#include "store/store.h"

namespace stoka::pipeline {

struct Settings {
  retrieve::RetrieveOptions retrieve;
  rerank::PolicyOptions policy;
  rerank::Thresholds thresholds;
  prompt::Options prompt;
  session::InterestWeights interests;
  // How an index must have been made to be searched with these parts. dim 0: any.
  store::IndexIdentity identity;
};

// Parts are borrowed and must outlive the engine. Threads: any.
class Engine {
 public:
  struct Parts {
    store::Store& store;
    embed::Embedder& embedder;
    rerank::Reranker& reranker;
    generate::Generator& generator;
    const golden::Golden& golden;
    const route::Router& router;
    const cite::GuardRules& guard;
    const Clock& clock;
    Ids& ids;
    Log& log;
  };
  Engine(Parts parts, Settings settings);

  const Parts& parts() const { return parts_; }
  const Settings& settings() const { return settings_; }

  // What is published, as of the last index run. Read once and kept until an index run ends.
  Result<std::shared_ptr<const Catalog>> catalog();

  // A data error when nothing is indexed, a config error that names both sides when the index was
  // made with other parts.
  Result<> check_index();

  // What the visitor seems to care about, the page they are on included.
  std::vector<session::Interest> interests(const Visitor& visitor, PageContext page,
                                           const Catalog& catalog) const;

  // Retrieval and rerank of a text, before the policy: best fused first, raw filled in. A reranker
  // that fails is replaced by the fused order, with a warning in the log.
  Result<std::vector<Hit>> candidates(retrieve::Query query, std::stop_token stop);

 private:
  Parts parts_;
  Settings settings_;
  std::mutex mutex_;
  std::shared_ptr<const Catalog> catalog_;
};

}  // namespace stoka::pipeline
