#include "pipeline/engine.h"

#include <fmt/format.h>

#include <algorithm>

namespace stoka::pipeline {
namespace {

// Stands in for a reranker: the order stays that of retrieval, the figures are the raw
// similarities. Where there are none (lexical retrieval), no more is claimed than that something
// was found.
void score_by_retrieval(std::vector<Hit>& hits, const rerank::Thresholds& thresholds) {
  std::vector<double> cosines;
  for (const Hit& hit : hits) cosines.push_back(std::clamp(hit.cosine, 0.0, 1.0));
  std::sort(cosines.rbegin(), cosines.rend());
  bool none = cosines.empty() || cosines.front() == 0;
  for (size_t i = 0; i < hits.size(); ++i)
    hits[i].raw = none ? thresholds.nothing * hits[i].fused / hits.front().fused : cosines[i];
}

}  // namespace

Engine::Engine(Parts parts, Settings settings) : parts_(parts), settings_(std::move(settings)) {}

Result<std::shared_ptr<const Catalog>> Engine::catalog() {
  STOKA_ASSIGN(store::IndexStats stats, parts_.store.stats());
  {
    std::lock_guard lock(mutex_);
    if (catalog_ && catalog_->generation() == stats.generation) return catalog_;
  }
  STOKA_ASSIGN(std::vector<store::DocumentInfo> documents, parts_.store.documents());
  auto fresh = std::make_shared<const Catalog>(std::move(documents), stats.generation);
  std::lock_guard lock(mutex_);
  catalog_ = fresh;
  return fresh;
}

Result<> Engine::check_index() {
  STOKA_ASSIGN(std::optional<store::IndexIdentity> made_with, parts_.store.identity());
  STOKA_ASSIGN(search::CorpusStats corpus, parts_.store.corpus_stats());
  if (!made_with || corpus.documents == 0)
    return fail(ErrorKind::data, "index is empty", "run: stoka index PATH");
  const store::IndexIdentity& wanted = settings_.identity;
  if (auto differs = store::difference(*made_with, wanted))
    return fail(ErrorKind::config,
                fmt::format("the index was made with {} '{}', configured is '{}'", differs->what,
                            differs->made_with, differs->wanted),
                "index again with: stoka index PATH, or configure what the index was made with");
  return {};
}

std::vector<session::Interest> Engine::interests(const Visitor& visitor, PageContext page,
                                                 const Catalog& catalog) const {
  // A page's address need not end in its slug.
  if (const Document* document = catalog.find_page(page.page)) page.page = document->slug;
  return session::interests(
      visitor, page, [&](std::string_view slug) { return catalog.tags_of(slug); },
      parts_.clock.now(), settings_.interests);
}

Result<std::vector<Hit>> Engine::candidates(retrieve::Query query, std::stop_token stop) {
  if (settings_.retrieve.mode != retrieve::Mode::lexical) {
    STOKA_ASSIGN(query.vector,
                 parts_.embedder.embed_query(settings_.identity.query_prefix + query.text, stop));
  }
  STOKA_ASSIGN(std::vector<Hit> hits,
               retrieve::retrieve(parts_.store, query, settings_.retrieve, stop));
  auto scores = parts_.reranker.score(query.text, hits, stop);
  if (scores && scores->size() != hits.size())
    scores = fail(ErrorKind::protocol,
                  fmt::format("{} scores for {} texts", scores->size(), hits.size()));
  if (!scores && scores.error().kind == ErrorKind::cancelled) return fail(scores.error());
  if (scores) {
    for (size_t i = 0; i < hits.size(); ++i) hits[i].raw = (*scores)[i];
  } else {
    parts_.log.warning(fmt::format("reranker {} failed ({}); answering in retrieval order",
                                   parts_.reranker.name(), scores.error().message));
    score_by_retrieval(hits, settings_.thresholds);
  }
  return hits;
}

}  // namespace stoka::pipeline
