#include "store/sqlite/index_rows.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "search/vectors.h"
#include "store/json_columns.h"
#include "store/posting_edits.h"
#include "store/read_row.h"
#include "store/sqlite/index_state.h"

namespace stoka::store::sqlite {
namespace {

constexpr std::string_view kChunkColumns =
    "SELECT c.id, c.source_type, c.source_slug, c.chunk_index, c.content, c.title, c.section, "
    "c.metadata";

constexpr std::string_view kDocumentColumns =
    "slug, title, type, path, url, description, author, tags, reading_time, content_hash, chunks, "
    "pub_date";

constexpr std::string_view kBasisColumns = "SELECT term, weight, data FROM stoka_basis";

Result<BasisRow> read_basis(const Connection& connection, const Statement& row) {
  const std::string_view bytes = row.blob(2);
  std::vector<float> values = search::decode_vector(bytes, bytes.size() / sizeof(float));
  if (values.empty()) return fail(connection.damaged());
  return BasisRow{row.text(0), static_cast<float>(row.real(1)), std::move(values)};
}

}  // namespace

Result<> insert_document(Connection& connection, const Document& document, size_t chunks) {
  Statement insert =
      connection.prepare("INSERT INTO stoka_documents (" + std::string(kDocumentColumns) +
                         ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  insert.bind(document.slug)
      .bind(document.title)
      .bind(document.type)
      .bind(document.path)
      .bind(document.url)
      .bind(document.description)
      .bind(document.author)
      .bind(strings_to_json(document.tags))
      .bind(int64_t{document.reading_minutes})
      .bind(document.content_hash)
      .bind(static_cast<int64_t>(chunks));
  if (document.date) {
    insert.bind(iso_date(*document.date));
  } else {
    insert.bind_null();
  }
  return insert.run();
}

Result<std::vector<DocumentInfo>> load_documents(Connection& connection) {
  std::vector<DocumentInfo> documents;
  Statement rows = connection.prepare("SELECT " + std::string(kDocumentColumns) +
                                      " FROM stoka_documents ORDER BY slug");
  for (;;) {
    STOKA_ASSIGN(const bool row, rows.step());
    if (!row) return documents;
    documents.push_back(read_document(rows));
  }
}

Result<ChunkId> insert_chunk(Connection& connection, const Document& document, const Chunk& chunk) {
  STOKA_TRY(
      connection
          .prepare("INSERT INTO stoka_chunks (source_type, source_slug, chunk_index, content, "
                   "title, section, metadata) VALUES (?, ?, ?, ?, ?, ?, ?)")
          .bind(chunk.type)
          .bind(document.slug)
          .bind(int64_t{chunk.index})
          .bind(chunk.content)
          .bind(chunk.title)
          .bind(chunk.section)
          .bind(metadata_to_json(document, chunk))
          .run());
  return connection.last_insert_id();
}

Result<std::vector<StoredChunk>> load_chunks(Connection& connection, std::span<const ChunkId> ids,
                                             bool with_embeddings) {
  STOKA_ASSIGN(const Transaction snapshot, Transaction::begin(connection, Transaction::Kind::read));
  IndexTotals totals;
  if (with_embeddings) {
    STOKA_ASSIGN(totals, load_totals(connection));
  }
  std::vector<StoredChunk> chunks;
  Statement rows = connection.prepare(
      std::string(kChunkColumns) +
      (with_embeddings ? ", v.embedding FROM stoka_chunks c LEFT JOIN stoka_vectors v "
                         "ON v.chunk_id = c.id WHERE c.id = ?"
                       : " FROM stoka_chunks c WHERE c.id = ?"));
  for (const ChunkId id : ids) {
    rows.reset().bind(id);
    STOKA_ASSIGN(const bool row, rows.step());
    if (!row) continue;
    std::optional<StoredChunk> stored = read_chunk(rows);
    if (!stored) return fail(connection.damaged());
    if (with_embeddings && !rows.is_null(8)) {
      stored->embedding = search::decode_vector(rows.blob(8), totals.dim);
      if (stored->embedding.empty()) return fail(connection.damaged());
    }
    chunks.push_back(std::move(*stored));
  }
  return chunks;
}

Result<std::vector<StoredChunk>> load_document_chunks(Connection& connection,
                                                      std::string_view slug) {
  std::vector<StoredChunk> chunks;
  Statement rows =
      connection.prepare(std::string(kChunkColumns) +
                         " FROM stoka_chunks c WHERE c.source_slug = ? ORDER BY c.chunk_index");
  rows.bind(slug);
  for (;;) {
    STOKA_ASSIGN(const bool row, rows.step());
    if (!row) return chunks;
    std::optional<StoredChunk> stored = read_chunk(rows);
    if (!stored) return fail(connection.damaged());
    chunks.push_back(std::move(*stored));
  }
}

Result<std::vector<uint64_t>> load_document_frequencies(Connection& connection,
                                                        std::span<const std::string> terms) {
  STOKA_ASSIGN(const Transaction snapshot, Transaction::begin(connection, Transaction::Kind::read));
  std::vector<uint64_t> frequencies;
  Statement rows = connection.prepare("SELECT df FROM stoka_terms WHERE term = ?");
  for (const std::string& term : terms) {
    rows.reset().bind(term);
    STOKA_ASSIGN(const bool row, rows.step());
    frequencies.push_back(row ? static_cast<uint64_t>(rows.integer(0)) : 0);
  }
  return frequencies;
}

Result<std::vector<std::vector<TermCount>>> load_chunk_terms(Connection& connection,
                                                             std::span<const ChunkId> ids) {
  STOKA_ASSIGN(const Transaction snapshot, Transaction::begin(connection, Transaction::Kind::read));
  std::vector<std::vector<TermCount>> all;
  std::vector<ChunkTerm> stored;
  Statement rows = connection.prepare("SELECT data FROM stoka_chunk_terms WHERE chunk_id = ?");
  Statement names = connection.prepare("SELECT term FROM stoka_terms WHERE id = ?");
  for (const ChunkId id : ids) {
    std::vector<TermCount>& terms = all.emplace_back();
    rows.reset().bind(id);
    STOKA_ASSIGN(const bool row, rows.step());
    if (!row) continue;
    if (!decode_chunk_terms(rows.blob(0), stored)) return fail(connection.damaged());
    for (const ChunkTerm& term : stored) {
      names.reset().bind(term.term);
      STOKA_ASSIGN(const bool named, names.step());
      if (!named) return fail(connection.damaged());
      terms.push_back({names.text(0), term.count});
    }
    std::sort(terms.begin(), terms.end(),
              [](const TermCount& a, const TermCount& b) { return a.term < b.term; });
  }
  return all;
}

Result<std::vector<BasisRow>> load_basis_rows(Connection& connection,
                                              std::span<const std::string> terms) {
  STOKA_ASSIGN(const Transaction snapshot, Transaction::begin(connection, Transaction::Kind::read));
  std::vector<BasisRow> found;
  Statement rows = connection.prepare(std::string(kBasisColumns) + " WHERE term = ?");
  for (const std::string& term : terms) {
    rows.reset().bind(term);
    STOKA_ASSIGN(const bool row, rows.step());
    if (!row) continue;
    STOKA_ASSIGN(BasisRow basis, read_basis(connection, rows));
    found.push_back(std::move(basis));
  }
  return found;
}

Result<std::vector<BasisRow>> load_basis(Connection& connection) {
  std::vector<BasisRow> found;
  Statement rows = connection.prepare(std::string(kBasisColumns) + " ORDER BY term");
  for (;;) {
    STOKA_ASSIGN(const bool row, rows.step());
    if (!row) return found;
    STOKA_ASSIGN(BasisRow basis, read_basis(connection, rows));
    found.push_back(std::move(basis));
  }
}

Result<std::vector<ChunkId>> excluded_chunks(Connection& connection, const SearchFilter& filter) {
  std::vector<ChunkId> ids;
  Statement rows = connection.prepare("SELECT id FROM stoka_chunks WHERE source_slug = ?");
  for (const std::string& slug : filter.exclude_slugs) {
    rows.reset().bind(slug);
    for (;;) {
      STOKA_ASSIGN(const bool row, rows.step());
      if (!row) break;
      ids.push_back(rows.integer(0));
    }
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

Result<std::vector<ScoredChunk>> rank_top_k(Connection& connection,
                                            std::vector<search::Scored> found, size_t k) {
  return store::rank_top_k(
      std::move(found), k, [&](std::span<const ChunkId> ids) -> Result<std::vector<ChunkPosition>> {
        std::vector<ChunkPosition> positions;
        Statement rows =
            connection.prepare("SELECT source_slug, chunk_index FROM stoka_chunks WHERE id = ?");
        for (const ChunkId id : ids) {
          rows.reset().bind(id);
          STOKA_ASSIGN(const bool row, rows.step());
          if (!row) return fail(connection.damaged());
          positions.push_back({id, rows.text(0), rows.integer(1)});
        }
        return positions;
      });
}

}  // namespace stoka::store::sqlite
