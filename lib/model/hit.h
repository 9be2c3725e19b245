// A chunk with its scores. Retrieval, the reranker and the policy each fill in their own fields.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/document.h"

namespace stoka {

using ChunkId = int64_t;

// The receipt of a policy rule that was applied to a chunk, with its factor.
struct PolicyReceipt {
  std::string rule;  // the name of the rule, as in rerank/policy.cpp: "shown", "deep-reader"
  double factor = 1.0;
};

struct Hit {
  ChunkId id = 0;
  Chunk chunk;
  // Members set by retrieval:
  int dense_rank = 0;    // the rank, from 1; 0 if the chunk is not among the dense candidates
  double cosine = 0;     // the cosine similarity to the query; 0 if the chunk has no vector
  int lexical_rank = 0;  // the rank, from 1; 0 if the chunk is not among the lexical candidates
  double bm25 = 0;
  double fused = 0;
  // Members set by the reranker and the policy:
  double raw_score = 0;  // the reranker's score in [0,1]
  // The reranker returned no score, so raw_score is derived from the rank in retrieval.
  bool is_unscored = false;
  double score = 0;  // the score after the policy, in [0,1]
  std::vector<PolicyReceipt> factors;
};

enum class Confidence { direct, adjacent, nothing };
std::string_view to_string(Confidence confidence);

}  // namespace stoka
