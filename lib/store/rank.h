// What the dense and the lexical search of every store have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "search/bm25.h"
#include "search/vectors.h"
#include "store/index_writer.h"

namespace stoka::store {

inline constexpr search::Bm25Params kBm25;

struct ChunkPosition {
  ChunkId id = 0;
  std::string slug;
  int64_t index = 0;
};

// Loads the positions of chunks, in any order; an error if a chunk is not stored.
using PositionLookup = std::function<Result<std::vector<ChunkPosition>>(std::span<const ChunkId>)>;

// The first k of `found`, which is ordered by score, best first. Equal scores are ordered by slug,
// then chunk index. `found` must contain every chunk that ties with the k-th. `positions_of` is
// called at most once, with the tied chunks only.
Result<std::vector<ScoredChunk>> rank_top_k(std::vector<search::Scored> found, size_t k,
                                            const PositionLookup& positions_of);

// Returns the sum of weights of each term; sums that are not positive and finite are left out. The
// result is in the order of terms, so that scores do not depend on the order of the query's terms,
// not even in the last bit.
std::map<std::string, double> term_weights(std::span<const QueryTerm> query);

// Checks a vector that is to be stored, or searched for, in an index of dimension `dim`. Returns a
// config error if the dimension differs; a data error (stored) or internal error (query) if it is
// not finite.
Result<> check_embedding(std::span<const float> vector, uint64_t dim);
Result<> check_query(std::span<const float> vector, uint64_t dim);
// Checks the vectors of new chunks. If `dim` is 0, the first vector determines the dimension.
Result<> check_embeddings(std::span<const ChunkRecord> chunks, uint64_t& dim);

}  // namespace stoka::store
