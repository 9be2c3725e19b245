#include "store/posting_edits.h"

#include <algorithm>

#include "search/scan.h"

namespace stoka::store {

bool decode_block(int64_t block, std::string_view bytes, std::vector<search::Posting>& out) {
  return search::decode_postings(bytes, out) && !out.empty() &&
         out.front().id / search::kBlockIds == block && out.back().id / search::kBlockIds == block;
}

std::string encode_chunk_terms(std::span<const ChunkTerm> terms) {
  std::vector<search::Posting> postings;
  postings.reserve(terms.size());
  for (const ChunkTerm& term : terms) postings.push_back({term.term, term.count, 0});
  return search::encode_postings(postings);
}

bool decode_chunk_terms(std::string_view bytes, std::vector<ChunkTerm>& out) {
  std::vector<search::Posting> postings;
  const bool whole = search::decode_postings(bytes, postings);
  out.clear();
  for (const search::Posting& posting : postings) out.push_back({posting.id, posting.tf});
  return whole;
}

Result<uint32_t> PostingEdits::add(ChunkId chunk, std::vector<ChunkTerm>& terms) {
  std::erase_if(terms, [](const ChunkTerm& term) { return term.count == 0; });
  std::sort(terms.begin(), terms.end(),
            [](const ChunkTerm& a, const ChunkTerm& b) { return a.term < b.term; });
  const auto duplicate =
      std::adjacent_find(terms.begin(), terms.end(),
                         [](const ChunkTerm& a, const ChunkTerm& b) { return a.term == b.term; });
  if (duplicate != terms.end()) {
    return fail(ErrorKind::internal, "a chunk names one of its terms twice");
  }
  uint32_t length = 0;
  for (const ChunkTerm& term : terms) length += term.count;
  for (const ChunkTerm& term : terms) {
    blocks_[{chunk / search::kBlockIds, term.term}].added.push_back({chunk, term.count, length});
    ++frequencies_[term.term];
  }
  return length;
}

uint32_t PostingEdits::remove(ChunkId chunk, std::span<const ChunkTerm> terms) {
  uint32_t length = 0;
  for (const ChunkTerm& term : terms) {
    blocks_[{chunk / search::kBlockIds, term.term}].removed.push_back(chunk);
    --frequencies_[term.term];
    length += term.count;
  }
  return length;
}

std::map<int64_t, int64_t> PostingEdits::frequencies() const {
  std::map<int64_t, int64_t> changed = frequencies_;
  std::erase_if(changed, [](const auto& change) { return change.second == 0; });
  return changed;
}

bool apply_edit(const PostingBlockEdit& edit, std::string_view before, std::string& after) {
  std::vector<search::Posting> postings;
  if (!search::decode_postings(before, postings)) return false;
  if (!edit.removed.empty()) {
    std::erase_if(postings, [&](const search::Posting& posting) {
      return std::binary_search(edit.removed.begin(), edit.removed.end(), posting.id);
    });
  }
  postings.insert(postings.end(), edit.added.begin(), edit.added.end());
  after = search::encode_postings(postings);
  return true;
}

}  // namespace stoka::store
