// Fuses the ranked lists of the lexical and the dense search into one. A pure function.
#pragma once

#include <span>
#include <vector>

#include "store/store.h"

namespace stoka::retrieve {

enum class Fusion {
  rrf,       // sum of 1 / (k + rank) (Cormack, Clarke and Büttcher 2009)
  weighted,  // weighted sum of scores; each list is scaled to [0,1] by its minimum and maximum
};

struct FusionOptions {
  Fusion fusion = Fusion::weighted;
  double rrf_k = 60;
  double lexical_weight = 0.7;
  double dense_weight = 0.3;
};

struct Candidate {
  ChunkId id = 0;
  int lexical_rank = 0;  // from 1; 0: not in the lexical list
  double bm25 = 0;
  int dense_rank = 0;  // from 1; 0: not in the dense list
  double cosine = 0;
  double score = 0;  // the fused score; a list without the chunk adds nothing
};

// Both lists must be ordered best first. Returns every chunk of either list once, best first;
// chunks with equal scores are ordered by id. If all scores of a list are equal, each is scaled
// to 1.
std::vector<Candidate> fuse(std::span<const store::ScoredChunk> lexical,
                            std::span<const store::ScoredChunk> dense,
                            const FusionOptions& options);

}  // namespace stoka::retrieve
