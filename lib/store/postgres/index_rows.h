// Reads the rows of documents, chunks, terms and the basis, inside a transaction of the caller.
// Each function executes one or two statements.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/index_reader.h"
#include "store/postgres/connection.h"
#include "store/rank.h"

namespace stoka::store::postgres {

Result<std::vector<DocumentInfo>> load_documents(Connection& connection);

Result<std::vector<StoredChunk>> load_chunks(Connection& connection, std::span<const ChunkId> ids,
                                             bool with_embeddings);
Result<std::vector<StoredChunk>> load_document_chunks(Connection& connection,
                                                      std::string_view slug);
Result<std::vector<std::vector<TermCount>>> load_chunk_terms(Connection& connection,
                                                             std::span<const ChunkId> ids);

Result<std::vector<uint64_t>> load_document_frequencies(Connection& connection,
                                                        std::span<const std::string> terms);
Result<std::vector<BasisRow>> load_basis_rows(Connection& connection,
                                              std::span<const std::string> terms);
Result<std::vector<BasisRow>> load_basis(Connection& connection);

// The slugs that the filter excludes, as a statement parameter.
std::vector<std::string> excluded_slugs(const SearchFilter& filter);
// Loads the positions of chunks, in any order. Fails with a data error if one is not stored.
Result<std::vector<ChunkPosition>> load_positions(Connection& connection,
                                                  std::span<const ChunkId> ids);

}  // namespace stoka::store::postgres
