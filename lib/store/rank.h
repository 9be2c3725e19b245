// What both searches of every store need besides their scores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "search/vectors.h"
#include "store/store.h"

namespace stoka::store {

struct Place {
  ChunkId id = 0;
  std::string slug;
  int64_t index = 0;
};

// Where chunks stand; an error if one of them is not there.
using PlacesOf = std::function<Result<std::vector<Place>>(std::span<const ChunkId>)>;

// The first k of `found` (best first), where equal scores are ordered by slug, then chunk index.
// `found` must hold every chunk that ties with its k-th. Asks for places of tied chunks only, once.
Result<std::vector<ScoredChunk>> ranked(std::vector<search::Scored> found, size_t k,
                                        const PlacesOf& places_of);

// The weights of a query by term: those of one term summed, those that cannot count left out. In
// order of the terms, so that the order of a query's words does not change the last bit of a score.
std::map<std::string, double> term_weights(std::span<const QueryTerm> query);

// A vector that may be stored or searched with in an index of that dimension: config error if the
// dimension is another one, data (stored) or internal (query) error if it is not finite.
Result<> check_embedding(std::span<const float> vector, uint64_t dim);
Result<> check_query(std::span<const float> vector, uint64_t dim);

}  // namespace stoka::store
