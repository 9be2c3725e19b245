// The rows behind leaving slugs out and breaking ties by slug.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "store/rank.h"
#include "store/sqlite/database.h"
#include "store/store.h"

namespace stoka::store::sqlite {

// Ids of the chunks that the filter leaves out, ascending.
Result<std::vector<ChunkId>> excluded_chunks(Database& database, const SearchFilter& filter);

// ranked() with the places of this database.
Result<std::vector<ScoredChunk>> ranked(Database& database, std::vector<search::Scored> found,
                                        size_t k);

}  // namespace stoka::store::sqlite
