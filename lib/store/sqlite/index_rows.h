// Documents, chunks, terms and the basis as rows.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/rank.h"
#include "store/sqlite/connection.h"
#include "store/store.h"

namespace stoka::store::sqlite {

Result<> insert_document(Database& database, const Document& document, size_t chunks);
Result<std::vector<DocumentInfo>> load_documents(Database& database);

// The new chunk's id.
Result<ChunkId> insert_chunk(Database& database, const Document& document, const Chunk& chunk);
Result<std::vector<StoredChunk>> load_chunks(Database& database, std::span<const ChunkId> ids,
                                             bool with_embeddings);
Result<std::vector<StoredChunk>> load_chunks_of(Database& database, std::string_view slug);

Result<std::vector<uint64_t>> load_document_frequencies(Database& database,
                                                        std::span<const std::string> terms);
Result<std::vector<std::vector<TermCount>>> load_terms(Database& database,
                                                       std::span<const ChunkId> ids);

Result<std::vector<BasisRow>> load_basis_rows(Database& database,
                                              std::span<const std::string> terms);
Result<std::vector<BasisRow>> load_basis(Database& database);

// Ids of the chunks that the filter leaves out, ascending.
Result<std::vector<ChunkId>> excluded_chunks(Database& database, const SearchFilter& filter);

// ranked() with the places of this database.
Result<std::vector<ScoredChunk>> ranked(Database& database, std::vector<search::Scored> found,
                                        size_t k);

}  // namespace stoka::store::sqlite
