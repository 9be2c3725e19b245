#include "pipeline/engine.h"

#include <fmt/format.h>

namespace stoka::pipeline {
namespace {

constexpr std::chrono::days kOldEssay{365};

golden::SiteFacts golden_facts(const Catalog& catalog, Date today) {
  golden::SiteFacts out;
  for (const store::DocumentInfo& info : catalog.documents()) {
    const Document& document = info.document;
    if (document.type == "changelog") out.has_changelog = true;
    if (document.type == "product") out.has_product = true;
    if (document.type == "philosophy" && document.date && today - *document.date > kOldEssay)
      out.has_old_essay = true;
  }
  return out;
}

}  // namespace

Engine::Engine(Parts parts, Settings settings)
    : parts_(parts), settings_(std::move(settings)), fallback_reranker_(parts.index) {}

Result<std::shared_ptr<const Catalog>> Engine::catalog() {
  STOKA_ASSIGN(store::IndexStats stats, parts_.index.stats());
  {
    std::lock_guard lock(mutex_);
    if (catalog_ && catalog_->generation() == stats.generation) return catalog_;
  }
  STOKA_ASSIGN(std::vector<store::DocumentInfo> documents, parts_.index.documents());
  auto catalog = std::make_shared<const Catalog>(std::move(documents), stats.generation);
  std::lock_guard lock(mutex_);
  catalog_ = catalog;
  return catalog;
}

golden::SiteFacts Engine::site_facts(const Catalog& catalog) {
  const Date today = parts_.clock.today();
  {
    std::lock_guard lock(mutex_);
    if (site_facts_ && std::get<0>(*site_facts_) == catalog.generation() &&
        std::get<1>(*site_facts_) == today)
      return std::get<2>(*site_facts_);
  }
  golden::SiteFacts out = golden_facts(catalog, today);
  std::lock_guard lock(mutex_);
  site_facts_.emplace(catalog.generation(), today, out);
  return out;
}

void Engine::replace_voice(const golden::Golden& golden, const route::Router& router,
                           const cite::GuardRules& guard, generate::Generator& generator) {
  auto parts = std::make_unique<const Parts>(Parts{parts_.index, parts_.sessions, parts_.embedder,
                                                   parts_.reranker, generator, golden, router,
                                                   guard, parts_.clock, parts_.ids, parts_.log});
  std::lock_guard lock(mutex_);
  current_.store(parts.get(), std::memory_order_release);
  replaced_.push_back(std::move(parts));
}

Result<> Engine::check_index(std::stop_token stop) {
  STOKA_ASSIGN(std::optional<store::IndexIdentity> made_with, parts_.index.identity());
  STOKA_ASSIGN(search::CorpusStats corpus, parts_.index.corpus_stats());
  if (!made_with || corpus.documents == 0)
    return fail(ErrorKind::data, "index is empty", "run: stoka index PATH");
  store::IndexIdentity wanted = settings_.identity;
  if (settings_.retrieve.mode == retrieve::Mode::lexical) {
    wanted.embedder = made_with->embedder;  // any embedder: a lexical search uses no vectors
  } else {
    STOKA_ASSIGN(embed::Identity embedder, parts_.embedder.identity(embed::InputType::query, stop));
    wanted.embedder = std::move(embedder.name);
    wanted.dim = embedder.dim;
  }
  if (auto differs = store::find_mismatch(*made_with, wanted))
    return fail(ErrorKind::config,
                fmt::format("the index was made with {} '{}', but '{}' is configured",
                            differs->what, differs->made_with, differs->wanted),
                "configure what it was made with, or rebuild it: stoka index --rebuild PATH");
  return {};
}

std::vector<session::Interest> Engine::interests(const Visitor& visitor, PageContext page,
                                                 const Catalog& catalog) const {
  // session::interests() expects the path of a page to end in its slug, but some addresses do not.
  if (const Document* document = catalog.find_page(page.page)) page.page = document->slug;
  return session::interests(
      visitor, page, [&](std::string_view slug) { return catalog.tags_of(slug); },
      parts_.clock.now(), settings_.interests);
}

Result<Candidates> Engine::candidates(retrieve::Query query, std::stop_token stop) {
  Candidates out;
  Stopwatch watch(parts_.clock, out.stages);
  if (settings_.retrieve.mode != retrieve::Mode::lexical) {
    STOKA_ASSIGN(query.vector,
                 parts_.embedder.embed_query(settings_.identity.query_prefix + query.text, stop));
  }
  watch.lap("embed");
  STOKA_ASSIGN(out.hits, retrieve::retrieve(parts_.index, query, settings_.retrieve, stop));
  watch.lap("search");
  if (out.hits.empty()) return out;
  auto scores = parts_.reranker.score(query.text, out.hits, stop);
  if (scores && scores->size() != out.hits.size())
    scores = fail(ErrorKind::protocol, fmt::format("the reranker returned {} scores for {} texts",
                                                   scores->size(), out.hits.size()));
  if (!scores) {
    if (scores.error().kind == ErrorKind::cancelled) return fail(scores.error());
    out.reranker_error = scores.error().message;
    const std::string& hint = scores.error().hint;
    parts_.log.warning(fmt::format("answering in retrieval order, {}{}{}", out.reranker_error,
                                   hint.empty() ? "" : ". ", hint));
    scores = fallback_reranker_.score(query.text, out.hits, stop);
    if (!scores) return fail(scores.error());
  }
  rerank::set_raw_scores(out.hits, *scores);
  watch.lap("rerank");
  return out;
}

}  // namespace stoka::pipeline
