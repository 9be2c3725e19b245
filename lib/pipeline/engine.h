// Everything a turn needs, wired by the app. The only room that sees every stage.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "cite/citation.h"
#include "cite/guard.h"
#include "embed/embedder.h"
#include "generate/generator.h"
#include "golden/golden.h"
#include "pipeline/catalog.h"
#include "prompt/prompt.h"
#include "rerank/confidence.h"
#include "rerank/order.h"
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
  std::string site_url;  // of the site, put before the paths of documents; may be empty
  // How an index must have been made to be searched with these parts. Name and dimension of the
  // embedder are asked of it.
  store::IndexIdentity identity;
};

struct Stage {
  std::string name;
  double ms = 0;
};

// Times stages by the injected clock.
class Stopwatch {
 public:
  Stopwatch(const Clock& clock, std::vector<Stage>& stages)
      : clock_(clock), stages_(stages), at_(clock.monotonic()) {}
  // What took the time since the last lap.
  void lap(std::string name) {
    std::chrono::nanoseconds now = clock_.monotonic();
    stages_.push_back(
        {std::move(name), std::chrono::duration<double, std::milli>(now - at_).count()});
    at_ = now;
  }
  void restart() { at_ = clock_.monotonic(); }

 private:
  const Clock& clock_;
  std::vector<Stage>& stages_;
  std::chrono::nanoseconds at_;
};

// What may answer a question, before the policy.
struct Candidates {
  std::vector<Hit> hits;      // best fused first, raw filled in
  std::string not_reranked;   // why the reranker was done without; empty: it was not
  std::vector<Stage> stages;  // embed, search, rerank
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
  // made with other parts, or what the embedder answers when it is asked who it is.
  Result<> check_index(std::stop_token stop = {});

  // What the visitor seems to care about, the page they are on included.
  std::vector<session::Interest> interests(const Visitor& visitor, PageContext page,
                                           const Catalog& catalog) const;

  // What citations that are made now are shown with.
  cite::Showing showing() const { return {settings_.site_url, parts_.clock.today()}; }

  // Retrieval and rerank of a text, before the policy. A reranker that fails is replaced by the
  // fused order, with a warning in the log.
  Result<Candidates> candidates(retrieve::Query query, std::stop_token stop);

 private:
  Parts parts_;
  Settings settings_;
  rerank::RetrievalOrder without_reranker_;
  std::mutex mutex_;
  std::shared_ptr<const Catalog> catalog_;
};

}  // namespace stoka::pipeline
