#include "retrieve/fusion.h"

#include <algorithm>
#include <map>

namespace stoka::retrieve {
namespace {

// What entry `i` of a list adds to the fused score of its chunk.
double contribution(std::span<const store::ScoredChunk> list, size_t i, double weight,
                    const FusionOptions& options) {
  if (options.fusion == Fusion::rrf) return 1.0 / (options.rrf_k + static_cast<double>(i + 1));
  const double max = list.front().score;
  const double min = list.back().score;
  return weight * (max > min ? (list[i].score - min) / (max - min) : 1.0);
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

}  // namespace stoka::retrieve
