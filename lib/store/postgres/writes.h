// Documents, chunks and the basis as rows, for writing. Each is one statement of the writer's
// transaction, unless it says otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
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

}  // namespace stoka::store::postgres
