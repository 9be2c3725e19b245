// The interface for writing an index.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/document.h"
#include "store/index_reader.h"

namespace stoka::store {

// A chunk to be written, with the counts of its terms (each term once). The embedding is empty if
// there is none yet.
struct ChunkRecord {
  Chunk chunk;
  std::vector<TermCount> terms;
  std::vector<float> embedding;
};

// The only writer of an index. When the writer is destroyed, others are admitted; what it has
// written stays. One thread at a time may use it. Errors: see store/store.h.
class IndexWriter {
 public:
  virtual ~IndexWriter() = default;

  virtual Result<> set_identity(const IndexIdentity& identity) = 0;

  // Replaces the document with the same slug, its chunks, postings and vectors, in one transaction.
  virtual Result<> put_document(const Document& document, std::span<const ChunkRecord> chunks) = 0;
  // Removes the document in one transaction. An unknown slug is not an error.
  virtual Result<> remove_document(std::string_view slug) = 0;
  // Removes documents, chunks, postings, vectors and the basis. Sessions are kept.
  virtual Result<> clear() = 0;

  // Visits the terms of every chunk, in ascending order of ids, until `visit` returns false.
  virtual Result<> each_chunk_terms(
      const std::function<bool(ChunkId, std::span<const TermCount>)>& visit) = 0;
  // Replaces the basis and the vectors of all chunks, in one transaction. vectors(id) is called
  // once for each chunk, in ascending order; it returns an empty vector for a chunk without one.
  virtual Result<> replace_basis(std::span<const BasisRow> basis, int dim, uint64_t fitted_chunks,
                                 const std::function<std::vector<float>(ChunkId)>& vectors) = 0;
  // Marks the index run as finished at `now` (IndexStats::indexed_at). The index counts as
  // unfinished from its first change (not counting set_identity()) until then.
  virtual Result<> finish(Instant now) = 0;
};

}  // namespace stoka::store
