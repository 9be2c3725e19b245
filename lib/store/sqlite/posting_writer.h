// Writes changes of the inverted index: terms, posting blocks and the terms of chunks.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "store/index_reader.h"
#include "store/posting_edits.h"
#include "store/sqlite/connection.h"

namespace stoka::store::sqlite {

// Writes postings within one write transaction of the caller.
class PostingWriter {
 public:
  explicit PostingWriter(Connection& connection) : connection_(&connection) {}

  // Adds or removes the terms of a chunk, with its row in stoka_chunk_terms. Both functions return
  // the length of the chunk in terms.
  Result<uint32_t> add(ChunkId chunk, std::span<const TermCount> terms);
  Result<uint32_t> remove(ChunkId chunk);

  // Writes the posting blocks and document frequencies. Call this once, at the end.
  Result<> apply();

 private:
  Result<int64_t> term_id(std::string_view term);
  Result<> apply_blocks();
  Result<> apply_frequencies();

  Connection* connection_;
  std::map<std::string, int64_t, std::less<>> ids_;
  PostingEdits edits_;
};

}  // namespace stoka::store::sqlite
