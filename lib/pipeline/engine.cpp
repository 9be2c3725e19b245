#include "pipeline/engine.h"

#include <fmt/format.h>

#include <algorithm>

namespace stoka::pipeline {

Engine::Engine(Parts parts, Settings settings) : parts_(parts), settings_(std::move(settings)) {}

Result<std::shared_ptr<const Catalog>> Engine::catalog() {
  STOKA_ASSIGN(store::IndexStats stats, parts_.store.stats());
  {
    std::lock_guard lock(mutex_);
    if (catalog_ && catalog_->indexed_at() == stats.indexed_at &&
        catalog_->documents().size() == stats.documents)
      return catalog_;
  }
  STOKA_ASSIGN(std::vector<store::DocumentInfo> documents, parts_.store.documents());
  auto fresh = std::make_shared<const Catalog>(std::move(documents), stats.indexed_at);
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
  auto differs = [](std::string_view what, std::string_view index, std::string_view configured) {
    return fail(
        ErrorKind::config,
        fmt::format("the index was made with {} '{}', configured is '{}'", what, index, configured),
        "index again with: stoka index PATH, or configure what the index was made with");
  };
  if (made_with->embedder != wanted.embedder)
    return differs("embedder", made_with->embedder, wanted.embedder);
  if (wanted.dim != 0 && made_with->dim != 0 && made_with->dim != wanted.dim)
    return differs("dimension", std::to_string(made_with->dim), std::to_string(wanted.dim));
  if (made_with->chunker != wanted.chunker)
    return differs("chunker", made_with->chunker, wanted.chunker);
  if (made_with->query_prefix != wanted.query_prefix)
    return differs("query prefix", made_with->query_prefix, wanted.query_prefix);
  return {};
}

Result<std::vector<Hit>> Engine::candidates(retrieve::Query query, const std::string& rerank_query,
                                            std::string& warning, std::stop_token stop) {
  if (settings_.retrieve.mode != retrieve::Mode::lexical) {
    STOKA_ASSIGN(query.vector,
                 parts_.embedder.embed_query(settings_.identity.query_prefix + query.text, stop));
  }
  STOKA_ASSIGN(std::vector<Hit> hits,
               retrieve::retrieve(parts_.store, query, settings_.retrieve, stop));
  auto scores = parts_.reranker.score(rerank_query, hits, stop);
  if (!scores && scores.error().kind == ErrorKind::cancelled) return fail(scores.error());
  if (!scores)
    warning = fmt::format("reranker {} failed ({}); answering in retrieval order",
                          parts_.reranker.name(), scores.error().message);
  for (size_t i = 0; i < hits.size(); ++i)
    hits[i].raw = scores ? (*scores)[i] : std::clamp(hits[i].cosine, 0.0, 1.0);
  return hits;
}

}  // namespace stoka::pipeline
