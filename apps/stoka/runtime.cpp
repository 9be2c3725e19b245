#include "runtime.h"

#include <fmt/format.h>

#include "base/url.h"

namespace stoka::app {
namespace {

size_t size_of(const Config& config, std::string_view key) {
  return static_cast<size_t>(std::max(0L, config.integer(key)));
}

retrieve::RetrieveOptions retrieve_options(const Config& config, const embed::Embedder& embedder) {
  retrieve::RetrieveOptions out;
  const std::string& mode = config.text("retrieval.mode");
  out.mode = mode == "dense"     ? retrieve::Mode::dense
             : mode == "lexical" ? retrieve::Mode::lexical
                                 : retrieve::Mode::hybrid;
  const std::string& fusion = config.text("retrieval.fusion");
  bool rrf = fusion == "rrf" || (fusion == "auto" && !embedder.is_fitted_to_index());
  out.fusion.fusion = rrf ? retrieve::Fusion::rrf : retrieve::Fusion::weighted;
  out.dense_k = size_of(config, "retrieval.dense");
  out.lexical_k = size_of(config, "retrieval.lexical");
  out.candidates = size_of(config, "retrieval.candidates");
  return out;
}

// Checks the rules for settings that the table of settings cannot express.
Result<> check(const Config& config) {
  if (config.number("threshold.direct") < config.number("threshold.adjacent") ||
      config.number("threshold.adjacent") < config.number("threshold.nothing"))
    return fail(ErrorKind::config,
                "threshold.direct, .adjacent and .nothing must not increase in this order",
                "e.g. 0.82, 0.65, 0.5");
  if (config.integer("chunk.overlap_tokens") * 2 > config.integer("chunk.max_tokens"))
    return fail(ErrorKind::config, "chunk.overlap_tokens is more than half of chunk.max_tokens",
                "e.g. 64 and 512");
  if (const std::string& site = config.text("site.url"); !site.empty() && !is_http_url(site))
    return fail(ErrorKind::config, fmt::format("site.url is not a web address: '{}'", site),
                "e.g. https://example.com");
  if (auto pattern = ingest::check_document_template(config.text("embedder.document_template"));
      !pattern)
    return fail(ErrorKind::config, "embedder.document_template: " + pattern.error().message,
                pattern.error().hint);
  return {};
}

pipeline::Settings pipeline_settings(const Config& config, const embed::Embedder& embedder) {
  pipeline::Settings out;
  out.retrieve = retrieve_options(config, embedder);
  out.policy = policy_options(config);
  out.thresholds = confidence_thresholds(config);
  out.prompt.budget = size_of(config, "prompt.budget");
  out.site_url = config.text("site.url");
  out.identity = index_identity(config, embedder);
  return out;
}

}  // namespace

// The built-in embedder gets no prefix and no template, because they would have no effect on it.
ingest::ChunkOptions chunk_options(const Config& config, const embed::Embedder& embedder) {
  ingest::ChunkOptions out;
  out.max_tokens = size_of(config, "chunk.max_tokens");
  out.overlap_tokens = size_of(config, "chunk.overlap_tokens");
  if (!embedder.is_fitted_to_index())
    out.prefix = *ingest::parse_prefix_mode(config.text("chunk.prefix"));
  return out;
}

store::IndexIdentity index_identity(const Config& config, const embed::Embedder& embedder) {
  store::IndexIdentity out;
  out.chunker = chunk_options(config, embedder).describe();
  out.query_prefix = config.text("embedder.query_prefix");
  if (!embedder.is_fitted_to_index())
    out.document_template = config.text("embedder.document_template");
  return out;
}

rerank::PolicyOptions policy_options(const Config& config) {
  rerank::PolicyOptions out;
  out.shown = config.number("policy.shown");
  out.deep_reader = config.number("policy.deep_reader");
  out.recent = config.number("policy.recent");
  out.navigational = config.number("policy.navigational");
  out.same_source = config.number("policy.same_source");
  return out;
}

rerank::ConfidenceThresholds confidence_thresholds(const Config& config) {
  return {config.number("threshold.direct"), config.number("threshold.adjacent"),
          config.number("threshold.nothing")};
}

namespace {

Result<std::unique_ptr<Runtime::Voice>> load_voice(const App& app) {
  STOKA_ASSIGN(golden::Golden golden, app.load_golden());
  STOKA_ASSIGN(route::Router router, route::Router::make(golden.router));
  STOKA_ASSIGN(cite::GuardRules guard, cite::read_guard_rules(golden.guard));
  return std::make_unique<Runtime::Voice>(
      Runtime::Voice{std::move(golden), std::move(router), std::move(guard)});
}

std::vector<std::unique_ptr<Runtime::Voice>> only(std::unique_ptr<Runtime::Voice> voice) {
  std::vector<std::unique_ptr<Runtime::Voice>> out;
  out.push_back(std::move(voice));
  return out;
}

}  // namespace

Runtime::Runtime(App& app, std::unique_ptr<store::Store> store, std::unique_ptr<Voice> voice,
                 std::unique_ptr<Providers> providers)
    : store_(std::move(store)),
      providers_(std::move(providers)),
      voices_(only(std::move(voice))),
      engine_({*store_, *store_, providers_->embedder(), providers_->reranker(),
               providers_->generator(), golden(), voices_.back()->router, voices_.back()->guard,
               app.clock, app.ids, app.log},
              pipeline_settings(app.config(), providers_->embedder())) {}

Result<> Runtime::reload_golden(const App& app) {
  STOKA_ASSIGN(std::unique_ptr<Voice> voice, load_voice(app));
  STOKA_ASSIGN(voice->generator, providers_->generator_for(voice->golden));
  voices_.push_back(std::move(voice));
  const Voice& now = *voices_.back();
  engine_.replace_voice(now.golden, now.router, now.guard, *now.generator);
  return {};
}

Result<std::unique_ptr<Runtime>> make_runtime(App& app, store::OpenMode mode) {
  return make_runtime(app, [&] { return app.open_store(mode); });
}

Result<std::unique_ptr<Runtime>> make_runtime(App& app, const OpenStore& open) {
  STOKA_TRY(check(app.config()));
  STOKA_ASSIGN(std::unique_ptr<Runtime::Voice> voice, load_voice(app));
  STOKA_ASSIGN(std::unique_ptr<store::Store> store, open());
  STOKA_ASSIGN(std::unique_ptr<Providers> parts, Providers::make(app, store.get(), voice->golden));
  return std::make_unique<Runtime>(app, std::move(store), std::move(voice), std::move(parts));
}

Result<std::unique_ptr<Providers>> make_providers(App& app, store::Store* store) {
  STOKA_TRY(check(app.config()));
  STOKA_ASSIGN(golden::Golden golden, app.load_golden());
  return Providers::make(app, store, golden);
}

}  // namespace stoka::app
