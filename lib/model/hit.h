// A chunk on its way through retrieval, rerank and policy. Each stage fills its own fields.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/document.h"

namespace stoka {

using ChunkId = int64_t;

// A rule of the editorial policy that touched a chunk, and by how much.
struct Factor {
  std::string rule;  // "shown", "deep-reader", "recent", "navigational", "same-source"
  double factor = 1.0;
};

struct Hit {
  ChunkId id = 0;
  Chunk chunk;
  // retrieve
  int dense_rank = 0;    // from 1; 0: not among the dense candidates
  double cosine = 0;     // to the query; 0 if there is no vector
  int lexical_rank = 0;  // from 1; 0: not among the lexical candidates
  double bm25 = 0;
  double fused = 0;
  // rerank
  double raw = 0;         // the reranker's score in [0,1]
  bool unscored = false;  // the reranker left it out: raw is that of the place retrieval gave it
  double score = 0;       // after the policy, in [0,1]
  std::vector<Factor> factors;
};

enum class Confidence { direct, adjacent, nothing };
std::string_view name(Confidence confidence);

}  // namespace stoka
