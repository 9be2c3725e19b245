#include "store/sqlite/postings.h"

#include <algorithm>

#include "search/scan.h"

namespace stoka::store::sqlite {
namespace {

// The posting codec does for these lists too: ids ascend, counts are above zero, no length.
std::string encode_chunk_terms(std::span<const ChunkTerm> terms) {
  std::vector<search::Posting> postings;
  postings.reserve(terms.size());
  for (const ChunkTerm& term : terms) postings.push_back({term.term, term.count, 0});
  return search::encode_postings(postings);
}

}  // namespace

bool decode_chunk_terms(std::string_view bytes, std::vector<ChunkTerm>& out) {
  std::vector<search::Posting> postings;
  const bool whole = search::decode_postings(bytes, postings);
  out.clear();
  for (const search::Posting& posting : postings) out.push_back({posting.id, posting.tf});
  return whole;
}

Result<uint32_t> PostingEdits::add(ChunkId chunk, std::span<const TermCount> terms) {
  std::vector<ChunkTerm> counted;
  uint32_t length = 0;
  for (const TermCount& term : terms) {
    if (term.count == 0) continue;
    STOKA_ASSIGN(const int64_t id, term_id(term.term));
    counted.push_back({id, term.count});
    length += term.count;
  }
  std::sort(counted.begin(), counted.end(),
            [](const ChunkTerm& a, const ChunkTerm& b) { return a.term < b.term; });
  const auto twice =
      std::adjacent_find(counted.begin(), counted.end(),
                         [](const ChunkTerm& a, const ChunkTerm& b) { return a.term == b.term; });
  if (twice != counted.end()) {
    return fail(ErrorKind::internal, "a chunk names one of its terms twice");
  }
  for (const ChunkTerm& term : counted) {
    edits_[{term.term, chunk / search::kBlockIds}].added.push_back({chunk, term.count, length});
    ++changes_[term.term];
  }
  STOKA_TRY(database_->prepare("INSERT INTO stoka_chunk_terms (chunk_id, data) VALUES (?, ?)")
                .bind(chunk)
                .bind_blob(encode_chunk_terms(counted))
                .run());
  return length;
}

Result<uint32_t> PostingEdits::remove(ChunkId chunk) {
  std::vector<ChunkTerm> terms;
  {
    Statement row = database_->prepare("SELECT data FROM stoka_chunk_terms WHERE chunk_id = ?");
    row.bind(chunk);
    STOKA_ASSIGN(const bool found, row.step());
    if (!found || !decode_chunk_terms(row.blob(0), terms)) return fail(database_->damaged());
  }
  uint32_t length = 0;
  for (const ChunkTerm& term : terms) {
    edits_[{term.term, chunk / search::kBlockIds}].removed.push_back(chunk);
    --changes_[term.term];
    length += term.count;
  }
  STOKA_TRY(
      database_->prepare("DELETE FROM stoka_chunk_terms WHERE chunk_id = ?").bind(chunk).run());
  return length;
}

Result<> PostingEdits::apply() {
  for (const auto& [key, edit] : edits_) STOKA_TRY(apply_block(key.first, key.second, edit));
  for (const auto& [term, change] : changes_) STOKA_TRY(apply_frequency(term, change));
  edits_.clear();
  changes_.clear();
  return {};
}

Result<int64_t> PostingEdits::term_id(std::string_view term) {
  if (const auto known = ids_.find(term); known != ids_.end()) return known->second;
  int64_t id = 0;
  {
    Statement row = database_->prepare("SELECT id FROM stoka_terms WHERE term = ?");
    row.bind(term);
    STOKA_ASSIGN(const bool found, row.step());
    if (found) id = row.integer(0);
  }
  if (id == 0) {
    STOKA_TRY(
        database_->prepare("INSERT INTO stoka_terms (term, df) VALUES (?, 0)").bind(term).run());
    id = database_->last_insert_id();
  }
  ids_.emplace(term, id);
  return id;
}

Result<> PostingEdits::apply_block(int64_t term, int64_t block, const Edit& edit) {
  std::vector<search::Posting> postings;
  {
    Statement row =
        database_->prepare("SELECT data FROM stoka_postings WHERE term_id = ? AND block = ?");
    row.bind(term).bind(block);
    STOKA_ASSIGN(const bool found, row.step());
    if (found && !search::decode_postings(row.blob(0), postings)) {
      return fail(database_->damaged());
    }
  }
  std::erase_if(postings, [&](const search::Posting& posting) {
    return std::binary_search(edit.removed.begin(), edit.removed.end(), posting.id);
  });
  postings.insert(postings.end(), edit.added.begin(), edit.added.end());
  if (postings.empty()) {
    return database_->prepare("DELETE FROM stoka_postings WHERE term_id = ? AND block = ?")
        .bind(term)
        .bind(block)
        .run();
  }
  return database_
      ->prepare("INSERT OR REPLACE INTO stoka_postings (term_id, block, data) VALUES (?, ?, ?)")
      .bind(term)
      .bind(block)
      .bind_blob(search::encode_postings(postings))
      .run();
}

Result<> PostingEdits::apply_frequency(int64_t term, int64_t change) {
  if (change != 0) {
    STOKA_TRY(database_->prepare("UPDATE stoka_terms SET df = df + ? WHERE id = ?")
                  .bind(change)
                  .bind(term)
                  .run());
  }
  if (change < 0) {
    STOKA_TRY(
        database_->prepare("DELETE FROM stoka_terms WHERE id = ? AND df <= 0").bind(term).run());
  }
  return {};
}

}  // namespace stoka::store::sqlite
