// Two ranked lists into one. Pure.
#pragma once

#include <span>
#include <vector>

#include "store/store.h"

namespace stoka::retrieve {

enum class Fusion {
  rrf,       // sum of 1 / (k + rank) (Cormack, Clarke and Büttcher 2009)
  weighted,  // weighted sum of scores, each list scaled to [0,1] by its smallest and largest
};

struct FusionOptions {
  Fusion fusion = Fusion::weighted;
  double rrf_k = 60;
  double lexical_weight = 0.7;
  double dense_weight = 0.3;
};

struct Candidate {
  ChunkId id = 0;
  int lexical_rank = 0;  // from 1; 0: not in that list
  double bm25 = 0;
  int dense_rank = 0;
  double cosine = 0;
  double score = 0;  // a list without the chunk adds nothing
};

// Every chunk of either list once, best first, equal scores by id. The lists are best first. In a
// list whose scores are all equal each counts as the largest.
std::vector<Candidate> fuse(std::span<const store::ScoredChunk> lexical,
                            std::span<const store::ScoredChunk> dense,
                            const FusionOptions& options);

}  // namespace stoka::retrieve
