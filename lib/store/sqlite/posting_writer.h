// The inverted index being changed: terms, postings and terms of chunks as rows.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "store/posting_edits.h"
#include "store/sqlite/connection.h"
#include "store/store.h"

namespace stoka::store::sqlite {

// Used inside one write transaction.
class Postings {
 public:
  explicit Postings(Database& database) : database_(&database) {}

  // Terms of a chunk that is new, or of one that goes; the row in stoka_chunk_terms with them. Both
  // give the chunk's length in terms.
  Result<uint32_t> add(ChunkId chunk, std::span<const TermCount> terms);
  Result<uint32_t> remove(ChunkId chunk);

  // Writes posting blocks and document frequencies: once, at the end.
  Result<> apply();

 private:
  Result<int64_t> term_id(std::string_view term);
  Result<> apply_blocks();
  Result<> apply_frequencies();

  Database* database_;
  std::map<std::string, int64_t, std::less<>> ids_;
  PostingEdits edits_;
};

}  // namespace stoka::store::sqlite
