// The inverted index being changed: collects what a document adds and takes away, so that each
// posting block is read and written once. Without I/O: stores bring the blocks.
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
#include "store/store.h"

namespace stoka::store {

// A term of a chunk, by the id of the term.
struct ChunkTerm {
  int64_t term = 0;
  uint32_t count = 0;
};

// Terms of a chunk in ascending order of their ids, as varints.
std::string encode_chunk_terms(std::span<const ChunkTerm> terms);
// False on damaged bytes.
bool decode_chunk_terms(std::string_view bytes, std::vector<ChunkTerm>& out);

// The place of a posting list: block = chunk id / search::kBlockIds.
struct BlockKey {
  int64_t block = 0;
  int64_t term = 0;
  auto operator<=>(const BlockKey&) const = default;
};

struct BlockEdit {
  std::vector<int64_t> removed;        // ascending
  std::vector<search::Posting> added;  // ascending, above all that are there
};

class PostingEdits {
 public:
  // Terms of a chunk that is new (ids above all that are there, ascending; counts of zero are left
  // out) or of one that goes. Both give the chunk's length in terms; adding sorts `terms` and
  // leaves in it what is to be kept beside the chunk. An error if a term is there twice.
  Result<uint32_t> add(ChunkId chunk, std::vector<ChunkTerm>& terms);
  uint32_t remove(ChunkId chunk, std::span<const ChunkTerm> terms);

  const std::map<BlockKey, BlockEdit>& blocks() const { return blocks_; }
  // Changes of document frequencies by term; none is 0.
  std::map<int64_t, int64_t> frequencies() const;

 private:
  std::map<BlockKey, BlockEdit> blocks_;
  std::map<int64_t, int64_t> frequencies_;
};

// The bytes of a block after an edit; empty if nothing is left. `before` is empty if there was no
// such block. False on damaged bytes.
bool apply_edit(const BlockEdit& edit, std::string_view before, std::string& after);

}  // namespace stoka::store
