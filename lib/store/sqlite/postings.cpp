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
    edits_[{chunk / search::kBlockIds, term.term}].added.push_back({chunk, term.count, length});
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
    edits_[{chunk / search::kBlockIds, term.term}].removed.push_back(chunk);
    --changes_[term.term];
    length += term.count;
  }
  STOKA_TRY(
      database_->prepare("DELETE FROM stoka_chunk_terms WHERE chunk_id = ?").bind(chunk).run());
  return length;
}

Result<> PostingEdits::apply() {
  STOKA_TRY(apply_blocks());
  STOKA_TRY(apply_frequencies());
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

Result<> PostingEdits::apply_blocks() {
  Statement select =
      database_->prepare("SELECT data FROM stoka_postings WHERE block = ? AND term_id = ?");
  Statement insert =
      database_->prepare("INSERT INTO stoka_postings (data, block, term_id) VALUES (?, ?, ?)");
  Statement update =
      database_->prepare("UPDATE stoka_postings SET data = ? WHERE block = ? AND term_id = ?");
  Statement remove =
      database_->prepare("DELETE FROM stoka_postings WHERE block = ? AND term_id = ?");
  std::vector<search::Posting> postings;
  for (const auto& [key, edit] : edits_) {
    const auto& [block, term] = key;
    postings.clear();
    select.reset().bind(block).bind(term);
    STOKA_ASSIGN(const bool found, select.step());
    if (found && !search::decode_postings(select.blob(0), postings)) {
      return fail(database_->damaged());
    }
    select.reset();
    std::erase_if(postings, [&removed = edit.removed](const search::Posting& posting) {
      return std::binary_search(removed.begin(), removed.end(), posting.id);
    });
    postings.insert(postings.end(), edit.added.begin(), edit.added.end());
    Statement& write = postings.empty() ? remove : found ? update : insert;
    write.reset();
    if (!postings.empty()) write.bind_blob(search::encode_postings(postings));
    STOKA_TRY(write.bind(block).bind(term).run());
  }
  return {};
}

Result<> PostingEdits::apply_frequencies() {
  Statement update = database_->prepare("UPDATE stoka_terms SET df = df + ? WHERE id = ?");
  Statement remove = database_->prepare("DELETE FROM stoka_terms WHERE id = ? AND df <= 0");
  for (const auto& [term, change] : changes_) {
    if (change == 0) continue;
    STOKA_TRY(update.reset().bind(change).bind(term).run());
    if (change < 0) STOKA_TRY(remove.reset().bind(term).run());
  }
  return {};
}

}  // namespace stoka::store::sqlite
