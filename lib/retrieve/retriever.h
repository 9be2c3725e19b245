// Finds the chunks for a query that are worth reranking: runs the lexical and the dense search of
// the index and fuses their results.
#pragma once

#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/hit.h"
#include "store/index_reader.h"

namespace stoka::retrieve {

enum class Mode { dense, lexical, hybrid };

enum class Fusion {
  rrf,       // the sum of 1 / (k + rank) (Cormack, Clarke and Büttcher 2009)
  weighted,  // a weighted sum of scores; each list is scaled to [0,1] by its minimum and maximum
};

struct FusionOptions {
  Fusion fusion = Fusion::weighted;
  double rrf_k = 60;
  double lexical_weight = 0.7;
  double dense_weight = 0.3;
};

struct RetrieveOptions {
  Mode mode = Mode::hybrid;
  FusionOptions fusion;
  size_t lexical_k = 100;  // hits of the lexical search
  size_t dense_k = 100;    // hits of the dense search
  size_t candidates = 20;  // hits returned after fusion
};

struct Query {
  std::string text;
  std::vector<float> vector;  // the embedding of the text; empty if it has none
  // The last topic of the session, for a follow-up question. Its terms join the lexical query with
  // weight 0.3, and the fused score of a chunk that has it as a tag is multiplied by 1.10.
  std::string bias_topic;
  std::set<std::string, std::less<>> exclude_slugs;
  // The interests: tags with a weight in [0,1]. The fused score of a chunk is multiplied by 1 +
  // 0.05 * w, where w is the largest weight among its tags.
  std::vector<std::pair<std::string, double>> interests;
};

// Returns at most options.candidates hits, ordered by fused score, then slug, then chunk index.
// Fills the retrieval fields of Hit; the cosine is computed even for a chunk that only the lexical
// search found. Without a query vector or without stored vectors, the hybrid mode returns the
// lexical hits and the dense mode returns none. Errors: those of the store, and `cancelled`.
Result<std::vector<Hit>> retrieve(store::IndexReader& index, const Query& query,
                                  const RetrieveOptions& options, std::stop_token stop = {});

// A chunk that one of the searches, or both, found.
struct Candidate {
  ChunkId id = 0;
  int lexical_rank = 0;  // the rank, from 1; 0 if the chunk is not in the lexical list
  double bm25 = 0;
  int dense_rank = 0;  // the rank, from 1; 0 if the chunk is not in the dense list
  double cosine = 0;
  double score = 0;  // the fused score; a list without the chunk adds nothing
};

// Fuses the ranked lists of the two searches into one. Both lists must be ordered best first.
// Returns every chunk of either list once, best first; chunks with equal scores are ordered by id.
// If all scores of a list are equal, each is scaled to 1.
std::vector<Candidate> fuse(std::span<const store::ScoredChunk> lexical,
                            std::span<const store::ScoredChunk> dense,
                            const FusionOptions& options);

// The terms of a text, each once, with the number of occurrences as its weight. Terms that only the
// topic has are added with weight 0.3.
std::vector<store::QueryTerm> query_terms(std::string_view text, std::string_view topic = {});

}  // namespace stoka::retrieve
