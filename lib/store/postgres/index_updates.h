// Writes the rows of documents, chunks, postings and the basis, inside the transaction of the index
// writer. Each function executes one statement unless its comment says otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/index_writer.h"
#include "store/postgres/connection.h"
#include "store/postgres/schema.h"
#include "store/posting_edits.h"

namespace stoka::store::postgres {

struct RemovedChunk {
  ChunkId id = 0;
  std::vector<ChunkTerm> terms;
};

struct RemovedDocument {
  bool existed = false;
  std::vector<RemovedChunk> chunks;  // removed chunks, ascending by id
  uint64_t vectors = 0;
};

// Removes the document with the given slug, its chunks and their terms.
Result<RemovedDocument> remove_document(Connection& connection, std::string_view slug);
Result<> insert_document(Connection& connection, const Document& document, size_t chunks);
// Inserts chunks. Returns their new ids, which are ascending, in the order of `chunks`.
Result<std::vector<ChunkId>> insert_chunks(Connection& connection, const Extension& extension,
                                           const Document& document,
                                           std::span<const ChunkRecord> chunks);

// Removes everything but sessions and the identity, in several statements.
Result<> delete_index(Connection& connection);

// replace_basis_rows() and update_vectors() execute one statement for some hundred rows each.
Result<> replace_basis_rows(Connection& connection, std::span<const BasisRow> basis);
// Stores vectors. A chunk whose vector is empty gets none.
Result<> update_vectors(Connection& connection, const Extension& extension,
                        std::span<const ChunkId> chunks,
                        std::span<const std::vector<float>> vectors);

// The ids of `terms`, which must be distinct, in their order. New terms are inserted.
Result<std::vector<int64_t>> term_ids(Connection& connection, std::span<const std::string> terms);

// Inserts the terms of new chunks, encoded by encode_chunk_terms().
Result<> insert_chunk_terms(Connection& connection, std::span<const ChunkId> chunks,
                            std::span<const std::string> terms);

// Applies the edits to the posting blocks, in two statements.
Result<> apply_blocks(Connection& connection,
                      const std::map<PostingBlockKey, PostingBlockEdit>& edits);

// Applies changes of document frequencies by term; terms that no chunk contains any more are
// removed.
Result<> apply_frequencies(Connection& connection, const std::map<int64_t, int64_t>& changes);

}  // namespace stoka::store::postgres
