// What both searches need besides their scores: leaving slugs out and breaking ties by slug.
#pragma once

#include <cstddef>
#include <vector>

#include "base/result.h"
#include "search/vectors.h"
#include "store/sqlite/database.h"
#include "store/store.h"

namespace stoka::store::sqlite {

// Ids of the chunks that the filter leaves out, ascending.
Result<std::vector<ChunkId>> excluded_chunks(Database& database, const SearchFilter& filter);

// The first k of `found` (best first), where equal scores are ordered by slug, then chunk index.
// `found` must hold every chunk that ties with its k-th.
Result<std::vector<ScoredChunk>> ranked(Database& database, std::vector<search::Scored> found,
                                        size_t k);

}  // namespace stoka::store::sqlite
