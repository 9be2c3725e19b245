#include "retrieve/retriever.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "search/vectors.h"
#include "text/words.h"

namespace stoka::retrieve {
namespace {

constexpr double kTopicTermWeight = 0.3;
constexpr double kTopicBoost = 0.10;
constexpr double kInterestBoost = 0.05;

// The amount that entry `i` of a list adds to the fused score of its chunk.
double contribution(std::span<const store::ScoredChunk> list, size_t i, double weight,
                    const FusionOptions& options) {
  if (options.fusion == Fusion::rrf) return 1.0 / (options.rrf_k + static_cast<double>(i + 1));
  const double max = list.front().score;
  const double min = list.back().score;
  return weight * (max > min ? (list[i].score - min) / (max - min) : 1.0);
}

double boost(const Chunk& chunk, const Query& query) {
  double factor = 1.0;
  if (!query.bias_topic.empty() && chunk.has_tag(query.bias_topic)) factor += kTopicBoost;
  double interest = 0;
  for (const auto& [tag, weight] : query.interests)
    if (chunk.has_tag(tag)) interest = std::max(interest, std::clamp(weight, 0.0, 1.0));
  return factor * (1.0 + kInterestBoost * interest);
}

// An upper bound of boost() for this query.
double max_boost(const Query& query) {
  double interest = 0;
  for (const auto& [tag, weight] : query.interests)
    interest = std::max(interest, std::clamp(weight, 0.0, 1.0));
  return (query.bias_topic.empty() ? 1.0 : 1.0 + kTopicBoost) * (1.0 + kInterestBoost * interest);
}

// How many of the fused candidates may still be among the first `wanted` after boosting. A boost
// may lift a candidate above the one that is in the last wanted place now. Candidates that tie with
// it count as well, because ties are ordered by slug and the slugs are not loaded yet.
size_t contender_count(const std::vector<Candidate>& fused, size_t wanted, double max_boost) {
  if (fused.size() <= wanted || wanted == 0) return fused.size();
  size_t n = wanted;
  while (n < fused.size() && fused[n].score * max_boost >= fused[wanted - 1].score) ++n;
  return n;
}

Result<std::vector<Hit>> load_hits(store::IndexReader& index, const std::vector<Candidate>& fused,
                                   const Query& query) {
  // The dense search has computed the cosine of the chunks it found. Only the other chunks are
  // loaded with their vectors, to compute it here.
  std::vector<ChunkId> without_vector, with_vector;
  std::map<ChunkId, const Candidate*> candidates;
  for (const Candidate& candidate : fused) {
    const bool needs_vector = candidate.dense_rank == 0 && !query.vector.empty();
    (needs_vector ? with_vector : without_vector).push_back(candidate.id);
    candidates[candidate.id] = &candidate;
  }
  STOKA_ASSIGN(std::vector<store::StoredChunk> chunks, index.chunks(without_vector));
  STOKA_ASSIGN(std::vector<store::StoredChunk> others, index.chunks(with_vector, true));
  std::move(others.begin(), others.end(), std::back_inserter(chunks));

  std::vector<Hit> hits;
  for (store::StoredChunk& stored : chunks) {
    const Candidate& candidate = *candidates[stored.id];
    Hit hit;
    hit.id = stored.id;
    hit.dense_rank = candidate.dense_rank;
    hit.lexical_rank = candidate.lexical_rank;
    hit.bm25 = candidate.bm25;
    if (candidate.dense_rank != 0)
      hit.cosine = candidate.cosine;
    else if (!stored.embedding.empty() && stored.embedding.size() == query.vector.size())
      hit.cosine = search::dot(query.vector.data(), stored.embedding.data(), query.vector.size());
    hit.fused = candidate.score * boost(stored.chunk, query);
    hit.chunk = std::move(stored.chunk);
    hits.push_back(std::move(hit));
  }
  return hits;
}

}  // namespace

std::vector<Candidate> fuse(std::span<const store::ScoredChunk> lexical,
                            std::span<const store::ScoredChunk> dense,
                            const FusionOptions& options) {
  std::map<ChunkId, Candidate> merged;
  for (size_t i = 0; i < lexical.size(); ++i) {
    Candidate& candidate = merged[lexical[i].id];
    candidate.lexical_rank = static_cast<int>(i + 1);
    candidate.bm25 = lexical[i].score;
    candidate.score += contribution(lexical, i, options.lexical_weight, options);
  }
  for (size_t i = 0; i < dense.size(); ++i) {
    Candidate& candidate = merged[dense[i].id];
    candidate.dense_rank = static_cast<int>(i + 1);
    candidate.cosine = dense[i].score;
    candidate.score += contribution(dense, i, options.dense_weight, options);
  }

  std::vector<Candidate> fused;
  for (auto& [id, candidate] : merged) {
    candidate.id = id;
    fused.push_back(candidate);
  }
  std::stable_sort(fused.begin(), fused.end(),
                   [](const Candidate& a, const Candidate& b) { return a.score > b.score; });
  return fused;
}

std::vector<store::QueryTerm> query_terms(std::string_view text, std::string_view topic) {
  std::map<std::string, double> weights;
  for (std::string& term : text::terms(text)) weights[std::move(term)] += 1.0;
  for (std::string& term : text::terms(topic)) weights.emplace(std::move(term), kTopicTermWeight);
  std::vector<store::QueryTerm> terms;
  for (const auto& [term, weight] : weights) terms.push_back({term, weight});
  return terms;
}

Result<std::vector<Hit>> retrieve(store::IndexReader& index, const Query& query,
                                  const RetrieveOptions& options, std::stop_token stop) {
  const store::SearchFilter filter{query.exclude_slugs};
  std::vector<store::ScoredChunk> lexical;
  std::vector<store::ScoredChunk> dense;
  if (options.mode != Mode::dense) {
    const auto terms = query_terms(query.text, query.bias_topic);
    STOKA_ASSIGN(lexical, index.search_lexical(terms, options.lexical_k, filter));
  }
  if (stop.stop_requested()) return fail(ErrorKind::cancelled, "the search was stopped");
  if (options.mode != Mode::lexical && !query.vector.empty()) {
    STOKA_ASSIGN(dense, index.search_dense(query.vector, options.dense_k, filter));
  }
  if (stop.stop_requested()) return fail(ErrorKind::cancelled, "the search was stopped");

  std::vector<Candidate> fused = fuse(lexical, dense, options.fusion);
  fused.resize(contender_count(fused, options.candidates, max_boost(query)));

  STOKA_ASSIGN(std::vector<Hit> hits, load_hits(index, fused, query));
  std::sort(hits.begin(), hits.end(), [](const Hit& a, const Hit& b) {
    return std::tie(b.fused, a.chunk.slug, a.chunk.index) <
           std::tie(a.fused, b.chunk.slug, b.chunk.index);
  });
  if (hits.size() > options.candidates) hits.resize(options.candidates);
  return hits;
}

}  // namespace stoka::retrieve
