// The inverted index in tables, being written. Each is one statement of the writer's transaction.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/postgres/connection.h"
#include "store/posting_edits.h"

namespace stoka::store::postgres {

// The ids of terms (each named once) in the order given. A term that is new gets one.
Result<std::vector<int64_t>> term_ids(Connection& connection, std::span<const std::string> terms);

// The terms of new chunks as encode_chunk_terms() gives them.
Result<> insert_chunk_terms(Connection& connection, std::span<const ChunkId> chunks,
                            std::span<const std::string> terms);

// Reads the blocks that are edited and writes them: two statements.
Result<> apply_blocks(Connection& connection, const std::map<BlockKey, BlockEdit>& edits);

// Changes of document frequencies by term; a term that no chunk has any more is forgotten.
Result<> apply_frequencies(Connection& connection, const std::map<int64_t, int64_t>& changes);

}  // namespace stoka::store::postgres
