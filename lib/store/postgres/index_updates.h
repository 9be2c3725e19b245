// Documents, chunks and the basis as rows, for writing. Each is one statement of the writer's
// transaction, unless it says otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/postgres/connection.h"
#include "store/postgres/schema.h"
#include "store/posting_edits.h"
#include "store/store.h"

namespace stoka::store::postgres {

struct RemovedChunk {
  ChunkId id = 0;
  std::vector<ChunkTerm> terms;
};

struct RemovedDocument {
  bool existed = false;
  std::vector<RemovedChunk> chunks;  // ascending
  uint64_t vectors = 0;
};

// The document of that slug, its chunks and their terms.
Result<RemovedDocument> remove_document(Connection& connection, std::string_view slug);
Result<> insert_document(Connection& connection, const Document& document, size_t chunks);
// The ids of the new chunks: ascending, in the order given.
Result<std::vector<ChunkId>> insert_chunks(Connection& connection, const Extension& extension,
                                           const Document& document,
                                           std::span<const ChunkRecord> chunks);

// Everything but sessions and the identity: several statements.
Result<> delete_index(Connection& connection);

// Several statements, some hundred rows each.
Result<> replace_basis_rows(Connection& connection, std::span<const BasisRow> basis);
// An empty vector leaves a chunk without one.
Result<> update_vectors(Connection& connection, const Extension& extension,
                        std::span<const ChunkId> chunks,
                        std::span<const std::vector<float>> vectors);

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
