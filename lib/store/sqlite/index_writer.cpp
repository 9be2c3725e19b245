#include "store/sqlite/index_writer.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "search/vectors.h"
#include "store/posting_edits.h"
#include "store/rank.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/database_file.h"
#include "store/sqlite/index_rows.h"
#include "store/sqlite/index_state.h"
#include "store/sqlite/posting_writer.h"
#include "store/term_names.h"

namespace stoka::store::sqlite {
namespace {

Result<> insert_vector(Connection& connection, ChunkId chunk, std::string_view bytes) {
  return connection.prepare("INSERT INTO stoka_vectors (chunk_id, embedding) VALUES (?, ?)")
      .bind(chunk)
      .bind_blob(bytes)
      .run();
}

class SqliteIndexWriter final : public IndexWriter {
 public:
  SqliteIndexWriter(IndexLock lock, std::unique_ptr<Connection> connection)
      : lock_(std::move(lock)), connection_(std::move(connection)) {}

  Result<> set_identity(const IndexIdentity& identity) override {
    return save_identity(*connection_, identity);
  }

  Result<> put_document(const Document& document, std::span<const ChunkRecord> chunks) override {
    return change([&](IndexTotals& totals) -> Result<> {
      STOKA_TRY(check_embeddings(chunks, totals.dim));
      PostingWriter postings(*connection_);
      STOKA_ASSIGN(const uint64_t removed, remove(document.slug, totals, postings));
      STOKA_TRY(insert_document(*connection_, document, chunks.size()));
      for (const ChunkRecord& record : chunks) STOKA_TRY(add(document, record, totals, postings));
      ++totals.documents;
      totals.changed_since_fit += std::max<uint64_t>(removed, chunks.size());
      return postings.apply();
    });
  }

  Result<> remove_document(std::string_view slug) override {
    return change([&](IndexTotals& totals) -> Result<> {
      PostingWriter postings(*connection_);
      STOKA_ASSIGN(const uint64_t removed, remove(slug, totals, postings));
      totals.changed_since_fit += removed;
      return postings.apply();
    });
  }

  Result<> clear() override {
    return change([&](IndexTotals& totals) -> Result<> {
      totals = {.generation = totals.generation, .unfinished = 1};
      return connection_->execute(
          "DELETE FROM stoka_postings; DELETE FROM stoka_terms; DELETE FROM stoka_chunk_terms;"
          "DELETE FROM stoka_vectors; DELETE FROM stoka_basis; DELETE FROM stoka_chunks;"
          "DELETE FROM stoka_documents;");
    });
  }

  Result<> each_chunk_terms(
      const std::function<bool(ChunkId, std::span<const TermCount>)>& visit) override;

  Result<> replace_basis(std::span<const BasisRow> basis, int dim, uint64_t fitted_chunks,
                         const std::function<std::vector<float>(ChunkId)>& vectors) override;

  Result<> finish(Instant now) override {
    const int64_t ms = now.time_since_epoch().count();
    return change([&](IndexTotals& totals) -> Result<> {
      totals.indexed_at = static_cast<uint64_t>(ms);
      totals.unfinished = 0;
      return connection_->prepare("UPDATE stoka_chunks SET created_at = ? WHERE created_at IS NULL")
          .bind(ms)
          .run();
    });
  }

 private:
  // Runs `work` in a transaction and increases the generation, which invalidates the readers'
  // caches.
  template <class Work>
  Result<> change(const Work& work) {
    STOKA_ASSIGN(Transaction transaction,
                 Transaction::begin(*connection_, Transaction::Kind::write));
    STOKA_ASSIGN(IndexTotals totals, load_totals(*connection_));
    totals.unfinished = 1;
    STOKA_TRY(work(totals));
    ++totals.generation;
    STOKA_TRY(save_totals(*connection_, totals));
    return transaction.commit();
  }

  Result<std::vector<ChunkId>> chunk_ids(std::string_view slug);
  // Returns the number of removed chunks.
  Result<uint64_t> remove(std::string_view slug, IndexTotals& totals, PostingWriter& postings);
  Result<> add(const Document& document, const ChunkRecord& record, IndexTotals& totals,
               PostingWriter& postings);

  IndexLock lock_;
  std::unique_ptr<Connection> connection_;
};

Result<std::vector<ChunkId>> SqliteIndexWriter::chunk_ids(std::string_view slug) {
  std::vector<ChunkId> ids;
  Statement rows =
      connection_->prepare("SELECT id FROM stoka_chunks WHERE source_slug = ? ORDER BY id");
  rows.bind(slug);
  for (;;) {
    STOKA_ASSIGN(const bool row, rows.step());
    if (!row) return ids;
    ids.push_back(rows.integer(0));
  }
}

Result<uint64_t> SqliteIndexWriter::remove(std::string_view slug, IndexTotals& totals,
                                           PostingWriter& postings) {
  STOKA_ASSIGN(const std::vector<ChunkId> ids, chunk_ids(slug));
  for (const ChunkId id : ids) {
    STOKA_ASSIGN(const uint32_t length, postings.remove(id));
    totals.total_length -= length;
    STOKA_TRY(connection_->prepare("DELETE FROM stoka_vectors WHERE chunk_id = ?").bind(id).run());
    totals.vectors -= static_cast<uint64_t>(connection_->changes());
    STOKA_TRY(connection_->prepare("DELETE FROM stoka_chunks WHERE id = ?").bind(id).run());
  }
  totals.chunks -= ids.size();
  STOKA_TRY(connection_->prepare("DELETE FROM stoka_documents WHERE slug = ?").bind(slug).run());
  totals.documents -= static_cast<uint64_t>(connection_->changes());
  return ids.size();
}

Result<> SqliteIndexWriter::add(const Document& document, const ChunkRecord& record,
                                IndexTotals& totals, PostingWriter& postings) {
  STOKA_ASSIGN(const ChunkId id, insert_chunk(*connection_, document, record.chunk));
  STOKA_ASSIGN(const uint32_t length, postings.add(id, record.terms));
  ++totals.chunks;
  totals.total_length += length;
  if (record.embedding.empty()) return {};
  STOKA_TRY(insert_vector(*connection_, id, search::encode_vector(record.embedding)));
  ++totals.vectors;
  return {};
}

Result<> SqliteIndexWriter::each_chunk_terms(
    const std::function<bool(ChunkId, std::span<const TermCount>)>& visit) {
  // Terms are sorted by name, because their ids depend on the order of indexing.
  TermNames names;
  {
    Statement rows = connection_->prepare("SELECT id, term FROM stoka_terms ORDER BY term");
    for (;;) {
      STOKA_ASSIGN(const bool row, rows.step());
      if (!row) break;
      names.add(rows.integer(0), rows.text(1));
    }
  }
  std::vector<ChunkTerm> stored;
  std::vector<TermCount> terms;
  Statement rows =
      connection_->prepare("SELECT chunk_id, data FROM stoka_chunk_terms ORDER BY chunk_id");
  for (;;) {
    STOKA_ASSIGN(const bool row, rows.step());
    if (!row) return {};
    if (!decode_chunk_terms(rows.blob(1), stored) || !names.look_up(stored, terms))
      return fail(connection_->damaged());
    if (!visit(rows.integer(0), terms)) return {};
  }
}

Result<> SqliteIndexWriter::replace_basis(
    std::span<const BasisRow> basis, int dim, uint64_t fitted_chunks,
    const std::function<std::vector<float>(ChunkId)>& vectors) {
  const auto width = static_cast<uint64_t>(dim);
  // The vectors are computed before the transaction, because turns wait for its lock. The IndexLock
  // keeps others from changing chunks meanwhile.
  std::vector<std::pair<ChunkId, std::string>> computed;
  {
    Statement rows =
        connection_->prepare("SELECT chunk_id FROM stoka_chunk_terms ORDER BY chunk_id");
    for (;;) {
      STOKA_ASSIGN(const bool row, rows.step());
      if (!row) break;
      const std::vector<float> vector = vectors(rows.integer(0));
      if (vector.empty()) continue;
      STOKA_TRY(check_embedding(vector, width));
      computed.emplace_back(rows.integer(0), search::encode_vector(vector));
    }
  }
  return change([&](IndexTotals& totals) -> Result<> {
    STOKA_TRY(connection_->execute("DELETE FROM stoka_basis; DELETE FROM stoka_vectors;"));
    Statement insert =
        connection_->prepare("INSERT INTO stoka_basis (term, weight, data) VALUES (?, ?, ?)");
    for (const BasisRow& row : basis) {
      STOKA_TRY(check_embedding(row.values, width));
      insert.reset()
          .bind(row.term)
          .bind(double{row.weight})
          .bind_blob(search::encode_vector(row.values));
      STOKA_TRY(insert.run());
    }
    for (const auto& [id, bytes] : computed) STOKA_TRY(insert_vector(*connection_, id, bytes));
    totals.dim = width;
    totals.vectors = computed.size();
    totals.fitted_chunks = fitted_chunks;
    totals.changed_since_fit = 0;
    return {};
  });
}

}  // namespace

Result<std::unique_ptr<IndexWriter>> make_index_writer(const std::string& path) {
  STOKA_ASSIGN(IndexLock lock, IndexLock::acquire(path));
  STOKA_ASSIGN(std::unique_ptr<Connection> connection, Connection::open(path, Role::index));
  if (connection->read_only()) return fail(connection->read_only_error());
  return std::make_unique<SqliteIndexWriter>(std::move(lock), std::move(connection));
}

}  // namespace stoka::store::sqlite
