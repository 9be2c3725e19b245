// The inverted index being changed: collects what a document adds and takes away, then rewrites
// each posting block once.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "search/bm25.h"
#include "store/sqlite/database.h"
#include "store/store.h"

namespace stoka::store::sqlite {

// A term of a chunk, by the id of the term.
struct ChunkTerm {
  int64_t term = 0;
  uint32_t count = 0;
};

// Ascending by term. False on damaged bytes.
bool decode_chunk_terms(std::string_view bytes, std::vector<ChunkTerm>& out);

// Used inside one write transaction.
class PostingEdits {
 public:
  explicit PostingEdits(Database& database) : database_(&database) {}

  // Terms of a chunk that is new, or of one that goes; the row in stoka_chunk_terms with them. Both
  // give the chunk's length in terms.
  Result<uint32_t> add(ChunkId chunk, std::span<const TermCount> terms);
  Result<uint32_t> remove(ChunkId chunk);

  // Writes posting blocks and document frequencies.
  Result<> apply();

 private:
  struct Edit {
    std::vector<int64_t> removed;        // ascending
    std::vector<search::Posting> added;  // ascending, above all that are there
  };
  Result<int64_t> term_id(std::string_view term);
  Result<> apply_blocks();
  Result<> apply_frequencies();

  Database* database_;
  std::map<std::string, int64_t, std::less<>> ids_;
  std::map<std::pair<int64_t, int64_t>, Edit> edits_;  // by block and term
  std::map<int64_t, int64_t> changes_;                 // of document frequencies, by term
};

}  // namespace stoka::store::sqlite
