// The engine holds the parts of the pipeline, which the app chooses, and does what turns, discover
// and ambient lines have in common.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "cite/citation.h"
#include "cite/voice_guard.h"
#include "embed/embedder.h"
#include "generate/generator.h"
#include "golden/golden.h"
#include "net/event_loop.h"
#include "pipeline/catalog.h"
#include "prompt/prompt.h"
#include "rerank/order.h"
#include "rerank/policy.h"
#include "rerank/reranker.h"
#include "retrieve/retriever.h"
#include "route/router.h"
#include "session/interests.h"
#include "store/index_reader.h"
#include "store/session_store.h"

namespace stoka::pipeline {

struct Settings {
  retrieve::RetrieveOptions retrieve;
  rerank::PolicyOptions policy;
  rerank::ConfidenceThresholds thresholds;
  prompt::Options prompt;
  session::InterestWeights interests;
  std::string site_url;  // the site's address, put before the paths of documents; may be empty
  // How an index must have been made so that this embedder can search it. The embedder itself
  // supplies its name and dimension.
  store::IndexIdentity identity;
};

// The time that a stage of the pipeline took.
struct StageTiming {
  std::string name;
  double ms = 0;
};

// Measures the time of consecutive stages.
class Stopwatch {
 public:
  Stopwatch(const Clock& clock, std::vector<StageTiming>& stages)
      : clock_(clock), stages_(stages), lap_start_(clock.monotonic()) {}
  // Adds a stage that took the time since construction, the last lap or restart().
  void lap(std::string name) {
    std::chrono::nanoseconds now = clock_.monotonic();
    stages_.push_back(
        {std::move(name), std::chrono::duration<double, std::milli>(now - lap_start_).count()});
    lap_start_ = now;
  }
  void restart() { lap_start_ = clock_.monotonic(); }

 private:
  const Clock& clock_;
  std::vector<StageTiming>& stages_;
  std::chrono::nanoseconds lap_start_;
};

// The reranked hits for a query, before the policy.
struct Candidates {
  std::vector<Hit> hits;            // ordered by fused score, with Hit::raw_score set
  std::string reranker_error;       // the error of the reranker; empty if it succeeded
  std::vector<StageTiming> stages;  // the times of embedding, search and reranking
};

// All members may be called from any thread. The parts must outlive the engine.
class Engine {
 public:
  struct Parts {
    store::IndexReader& index;
    store::SessionStore& sessions;
    embed::Embedder& embedder;
    rerank::Reranker& reranker;
    generate::Generator& generator;
    const golden::Golden& golden;
    const route::Router& router;
    const cite::GuardRules& guard;
    const Clock& clock;
    UuidSource& ids;
    Log& log;
  };
  Engine(Parts parts, Settings settings);

  // The current parts. The reference stays valid as long as the engine exists, even if the voice is
  // replaced meanwhile.
  const Parts& parts() const { return *current_.load(std::memory_order_acquire); }
  // Replaces the parts that are made from golden data. The new parts must outlive the engine. A
  // turn that is under way may still use the old parts.
  void replace_voice(const golden::Golden& golden, const route::Router& router,
                     const cite::GuardRules& guard, generate::Generator& generator);
  const Settings& settings() const { return settings_; }
  // The event loops for callers that block while an answer is generated.
  net::EventLoopPool& loops() { return loops_; }

  // The indexed documents, cached until an index run changes the generation of the index.
  Result<std::shared_ptr<const Catalog>> catalog();

  // The golden conditions that the site meets, which decide what lines of the voice may claim.
  golden::SiteFacts site_facts(const Catalog& catalog);

  // Checks that the index can be searched with these parts. Errors: data if nothing is indexed;
  // config if the index was made with other parts (the message names both); the error of the
  // embedder if it cannot tell its identity.
  Result<> check_index(std::stop_token stop = {});

  // The interests of the visitor, derived from the stored visitor and the page they are on.
  std::vector<session::Interest> interests(const Visitor& visitor, PageContext page,
                                           const Catalog& catalog) const;

  // The context for new citations: the address of the site, and today's date.
  cite::CitationContext showing() const { return {settings_.site_url, parts_.clock.today()}; }

  // Embeds, retrieves and reranks. If the reranker fails, the hits keep their fused order, and the
  // log gets a warning.
  Result<Candidates> candidates(retrieve::Query query, std::stop_token stop);

 private:
  const Parts parts_;  // the parts given at construction; the voice may have been replaced since
  Settings settings_;
  rerank::RetrievalOrder fallback_reranker_;
  net::EventLoopPool loops_;
  std::mutex mutex_;  // guards the members below, except for reading current_
  std::shared_ptr<const Catalog> catalog_;
  // The site facts, with the generation of the index and the day that they are for.
  std::optional<std::tuple<uint64_t, Date, golden::SiteFacts>> site_facts_;
  // Replaced parts are kept as long as the engine, because turns may refer to them. Golden data is
  // edited by hand, so they are few.
  std::vector<std::unique_ptr<const Parts>> replaced_;
  std::atomic<const Parts*> current_{&parts_};
};

}  // namespace stoka::pipeline
