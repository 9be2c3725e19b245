// Changes of the inverted index. PostingEdits collects the postings that a document adds and
// removes, so that each posting block is read and written once. No I/O: the stores read and write
// the blocks.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/hit.h"
#include "search/bm25.h"

namespace stoka::store {

// Decodes the bytes of a posting block. Returns false if they are damaged or not of this block.
bool decode_block(int64_t block, std::string_view bytes, std::vector<search::Posting>& out);

// How often a term, given by its id, occurs in a chunk.
struct ChunkTerm {
  int64_t term = 0;
  uint32_t count = 0;
};

// The terms of a chunk, ascending by id, as postings with the length 0.
std::string encode_chunk_terms(std::span<const ChunkTerm> terms);
// Decodes the terms of a chunk. Returns false if the bytes are damaged.
bool decode_chunk_terms(std::string_view bytes, std::vector<ChunkTerm>& out);

// Identifies a posting block: block = chunk id / search::kBlockIds.
struct PostingBlockKey {
  int64_t block = 0;
  int64_t term = 0;
  auto operator<=>(const PostingBlockKey&) const = default;
};

struct PostingBlockEdit {
  std::vector<int64_t> removed;        // ids of removed chunks, ascending
  std::vector<search::Posting> added;  // new postings, ascending, above all ids in the block
};

class PostingEdits {
 public:
  // add() and remove() return the length of the chunk in terms. Ids of added chunks must be
  // ascending and above all stored ids. add() sorts `terms` and removes counts of zero: the result
  // is to be stored with the chunk. It is an internal error if a term occurs twice.
  Result<uint32_t> add(ChunkId chunk, std::vector<ChunkTerm>& terms);
  uint32_t remove(ChunkId chunk, std::span<const ChunkTerm> terms);

  const std::map<PostingBlockKey, PostingBlockEdit>& blocks() const { return blocks_; }
  // Changes of document frequencies by term; changes of 0 are left out.
  std::map<int64_t, int64_t> frequencies() const;

 private:
  std::map<PostingBlockKey, PostingBlockEdit> blocks_;
  std::map<int64_t, int64_t> frequencies_;
};

// Sets `after` to the bytes of the block after the edit; empty if no posting is left. `before` is
// empty for a new block. Returns false if `before` is damaged.
bool apply_edit(const PostingBlockEdit& edit, std::string_view before, std::string& after);

}  // namespace stoka::store
