#include "store/sqlite/posting_writer.h"

#include <vector>

namespace stoka::store::sqlite {

Result<uint32_t> PostingWriter::add(ChunkId chunk, std::span<const TermCount> terms) {
  std::vector<ChunkTerm> counted;
  counted.reserve(terms.size());
  for (const TermCount& term : terms) {
    if (term.count == 0) continue;
    STOKA_ASSIGN(const int64_t id, term_id(term.term));
    counted.push_back({id, term.count});
  }
  STOKA_ASSIGN(const uint32_t length, edits_.add(chunk, counted));
  STOKA_TRY(connection_->prepare("INSERT INTO stoka_chunk_terms (chunk_id, data) VALUES (?, ?)")
                .bind(chunk)
                .bind_blob(encode_chunk_terms(counted))
                .run());
  return length;
}

Result<uint32_t> PostingWriter::remove(ChunkId chunk) {
  std::vector<ChunkTerm> terms;
  {
    Statement row = connection_->prepare("SELECT data FROM stoka_chunk_terms WHERE chunk_id = ?");
    row.bind(chunk);
    STOKA_ASSIGN(const bool found, row.step());
    if (!found || !decode_chunk_terms(row.blob(0), terms)) return fail(connection_->damaged());
  }
  STOKA_TRY(
      connection_->prepare("DELETE FROM stoka_chunk_terms WHERE chunk_id = ?").bind(chunk).run());
  return edits_.remove(chunk, terms);
}

Result<> PostingWriter::apply() {
  STOKA_TRY(apply_blocks());
  return apply_frequencies();
}

Result<int64_t> PostingWriter::term_id(std::string_view term) {
  if (const auto known = ids_.find(term); known != ids_.end()) return known->second;
  int64_t id = 0;
  {
    Statement row = connection_->prepare("SELECT id FROM stoka_terms WHERE term = ?");
    row.bind(term);
    STOKA_ASSIGN(const bool found, row.step());
    if (found) id = row.integer(0);
  }
  if (id == 0) {
    STOKA_TRY(
        connection_->prepare("INSERT INTO stoka_terms (term, df) VALUES (?, 0)").bind(term).run());
    id = connection_->last_insert_id();
  }
  ids_.emplace(term, id);
  return id;
}

Result<> PostingWriter::apply_blocks() {
  Statement select =
      connection_->prepare("SELECT data FROM stoka_postings WHERE block = ? AND term_id = ?");
  Statement insert =
      connection_->prepare("INSERT INTO stoka_postings (data, block, term_id) VALUES (?, ?, ?)");
  Statement update =
      connection_->prepare("UPDATE stoka_postings SET data = ? WHERE block = ? AND term_id = ?");
  Statement remove =
      connection_->prepare("DELETE FROM stoka_postings WHERE block = ? AND term_id = ?");
  std::string data;
  for (const auto& [key, edit] : edits_.blocks()) {
    select.reset().bind(key.block).bind(key.term);
    STOKA_ASSIGN(const bool found, select.step());
    if (!apply_edit(edit, found ? select.blob(0) : std::string_view(), data)) {
      return fail(connection_->damaged());
    }
    select.reset();
    Statement& write = data.empty() ? remove : found ? update : insert;
    write.reset();
    if (!data.empty()) write.bind_blob(data);
    STOKA_TRY(write.bind(key.block).bind(key.term).run());
  }
  return {};
}

Result<> PostingWriter::apply_frequencies() {
  Statement update = connection_->prepare("UPDATE stoka_terms SET df = df + ? WHERE id = ?");
  Statement remove = connection_->prepare("DELETE FROM stoka_terms WHERE id = ? AND df <= 0");
  for (const auto& [term, change] : edits_.frequencies()) {
    STOKA_TRY(update.reset().bind(change).bind(term).run());
    if (change < 0) STOKA_TRY(remove.reset().bind(term).run());
  }
  return {};
}

}  // namespace stoka::store::sqlite
