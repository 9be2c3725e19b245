// Reads and writes the rows of documents, chunks, terms and the basis.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/index_reader.h"
#include "store/rank.h"
#include "store/sqlite/connection.h"

namespace stoka::store::sqlite {

Result<> insert_document(Connection& connection, const Document& document, size_t chunks);
Result<std::vector<DocumentInfo>> load_documents(Connection& connection);

// Inserts a chunk. Returns its id.
Result<ChunkId> insert_chunk(Connection& connection, const Document& document, const Chunk& chunk);
Result<std::vector<StoredChunk>> load_chunks(Connection& connection, std::span<const ChunkId> ids,
                                             bool with_embeddings);
Result<std::vector<StoredChunk>> load_document_chunks(Connection& connection,
                                                      std::string_view slug);

Result<std::vector<uint64_t>> load_document_frequencies(Connection& connection,
                                                        std::span<const std::string> terms);
Result<std::vector<std::vector<TermCount>>> load_chunk_terms(Connection& connection,
                                                             std::span<const ChunkId> ids);

Result<std::vector<BasisRow>> load_basis_rows(Connection& connection,
                                              std::span<const std::string> terms);
Result<std::vector<BasisRow>> load_basis(Connection& connection);

// The ids of the chunks that the filter excludes, ascending.
Result<std::vector<ChunkId>> excluded_chunks(Connection& connection, const SearchFilter& filter);

// Calls store::rank_top_k() with the positions of chunks in this database.
Result<std::vector<ScoredChunk>> rank_top_k(Connection& connection,
                                            std::vector<search::Scored> found, size_t k);

}  // namespace stoka::store::sqlite
