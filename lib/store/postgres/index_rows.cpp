#include "store/postgres/index_rows.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "search/vectors.h"
#include "store/postgres/index_state.h"
#include "store/posting_edits.h"
#include "store/read_row.h"
#include "store/term_names.h"

namespace stoka::store::postgres {
namespace {

constexpr std::string_view kChunkColumns =
    "SELECT c.id, c.source_type, c.source_slug, c.chunk_index, c.content, c.title, c.section, "
    "COALESCE(c.metadata::text, '{}')";

Result<std::vector<StoredChunk>> read_chunks(const Rows& rows, bool with_embeddings) {
  std::vector<StoredChunk> chunks;
  chunks.reserve(rows.size());
  for (size_t row = 0; row < rows.size(); ++row) {
    std::optional<StoredChunk> stored = read_chunk(Row{rows, row});
    if (!stored) return fail(damaged());
    if (with_embeddings && !rows.is_null(row, 8)) {
      stored->embedding = vector_from_bytes(rows.bytes(row, 8));
      if (stored->embedding.empty()) return fail(damaged());
    }
    chunks.push_back(std::move(*stored));
  }
  return chunks;
}

Result<std::vector<BasisRow>> read_basis(const Rows& rows) {
  std::vector<BasisRow> basis;
  basis.reserve(rows.size());
  for (size_t row = 0; row < rows.size(); ++row) {
    const std::string bytes = rows.bytes(row, 2);
    std::vector<float> values = search::decode_vector(bytes, bytes.size() / sizeof(float));
    if (values.empty()) return fail(damaged());
    basis.push_back(
        {std::string(rows.text(row, 0)), static_cast<float>(rows.real(row, 1)), std::move(values)});
  }
  return basis;
}

// The names of the terms with these ids.
Result<TermNames> load_term_names(Connection& connection, std::vector<int64_t> ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  STOKA_ASSIGN(
      const Rows rows,
      connection.run("SELECT id, term FROM stoka_terms WHERE id = ANY($1::bigint[]) ORDER BY term",
                     Params().integers(ids)));
  TermNames names;
  for (size_t row = 0; row < rows.size(); ++row)
    names.add(rows.integer(row, 0), std::string(rows.text(row, 1)));
  return names;
}

}  // namespace

Result<std::vector<DocumentInfo>> load_documents(Connection& connection) {
  STOKA_ASSIGN(
      const Rows rows,
      connection.run("SELECT slug, title, type, path, url, description, author, "
                     "tags::text, reading_time, content_hash, chunks, "
                     "to_char(pub_date, 'YYYY-MM-DD') FROM stoka_documents ORDER BY slug"));
  std::vector<DocumentInfo> documents;
  for (size_t row = 0; row < rows.size(); ++row) documents.push_back(read_document(Row{rows, row}));
  return documents;
}

Result<std::vector<StoredChunk>> load_chunks(Connection& connection, std::span<const ChunkId> ids,
                                             bool with_embeddings) {
  std::string sql(kChunkColumns);
  if (with_embeddings) sql += ", vector_send(c.embedding)";
  sql +=
      " FROM unnest($1::bigint[]) WITH ORDINALITY AS wanted (id, place) "
      "JOIN stoka_chunks c ON c.id = wanted.id ORDER BY wanted.place";
  STOKA_ASSIGN(const Rows rows, connection.run(sql, Params().integers(ids)));
  return read_chunks(rows, with_embeddings);
}

Result<std::vector<StoredChunk>> load_document_chunks(Connection& connection,
                                                      std::string_view slug) {
  STOKA_ASSIGN(const Rows rows,
               connection.run(
                   std::string(kChunkColumns) +
                       " FROM stoka_chunks c WHERE c.source_slug = $1::text ORDER BY c.chunk_index",
                   Params().text(slug)));
  return read_chunks(rows, false);
}

Result<std::vector<std::vector<TermCount>>> load_chunk_terms(Connection& connection,
                                                             std::span<const ChunkId> ids) {
  STOKA_ASSIGN(const Rows rows,
               connection.run("SELECT wanted.place, t.data "
                              "FROM unnest($1::bigint[]) WITH ORDINALITY AS wanted (id, place) "
                              "JOIN stoka_chunk_terms t ON t.chunk_id = wanted.id",
                              Params().integers(ids)));
  std::vector<std::vector<ChunkTerm>> stored(ids.size());
  std::vector<int64_t> term_ids;
  for (size_t row = 0; row < rows.size(); ++row) {
    std::vector<ChunkTerm>& terms = stored[static_cast<size_t>(rows.integer(row, 0)) - 1];
    if (!decode_chunk_terms(rows.bytes(row, 1), terms)) return fail(damaged());
    for (const ChunkTerm& term : terms) term_ids.push_back(term.term);
  }
  STOKA_ASSIGN(TermNames names, load_term_names(connection, std::move(term_ids)));
  std::vector<std::vector<TermCount>> found(ids.size());
  for (size_t i = 0; i < ids.size(); ++i)
    if (!names.look_up(stored[i], found[i])) return fail(damaged());
  return found;
}

Result<std::vector<uint64_t>> load_document_frequencies(Connection& connection,
                                                        std::span<const std::string> terms) {
  STOKA_ASSIGN(const Rows rows,
               connection.run("SELECT t.df "
                              "FROM unnest($1::text[]) WITH ORDINALITY AS wanted (term, place) "
                              "LEFT JOIN stoka_terms t ON t.term = wanted.term "
                              "ORDER BY wanted.place",
                              Params().texts(terms)));
  std::vector<uint64_t> frequencies;
  for (size_t row = 0; row < rows.size(); ++row) {
    frequencies.push_back(static_cast<uint64_t>(rows.integer(row, 0)));
  }
  return frequencies;
}

Result<std::vector<BasisRow>> load_basis_rows(Connection& connection,
                                              std::span<const std::string> terms) {
  STOKA_ASSIGN(const Rows rows,
               connection.run("SELECT b.term, b.weight, b.data "
                              "FROM unnest($1::text[]) WITH ORDINALITY AS wanted (term, place) "
                              "JOIN stoka_basis b ON b.term = wanted.term ORDER BY wanted.place",
                              Params().texts(terms)));
  return read_basis(rows);
}

Result<std::vector<BasisRow>> load_basis(Connection& connection) {
  STOKA_ASSIGN(const Rows rows,
               connection.run("SELECT term, weight, data FROM stoka_basis ORDER BY term"));
  return read_basis(rows);
}

std::vector<std::string> excluded_slugs(const SearchFilter& filter) {
  return {filter.exclude_slugs.begin(), filter.exclude_slugs.end()};
}

Result<std::vector<ChunkPosition>> load_positions(Connection& connection,
                                                  std::span<const ChunkId> ids) {
  STOKA_ASSIGN(const Rows rows,
               connection.run("SELECT id, source_slug, chunk_index FROM stoka_chunks "
                              "WHERE id = ANY($1::bigint[])",
                              Params().integers(ids)));
  if (rows.size() != ids.size()) return fail(damaged());
  std::vector<ChunkPosition> positions;
  for (size_t row = 0; row < rows.size(); ++row) {
    positions.push_back(
        {rows.integer(row, 0), std::string(rows.text(row, 1)), rows.integer(row, 2)});
  }
  return positions;
}

}  // namespace stoka::store::postgres
