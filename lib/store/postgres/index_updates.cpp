#include "store/postgres/index_updates.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "search/vectors.h"
#include "store/json_columns.h"
#include "store/postgres/index_state.h"
#include "store/postgres/params.h"

namespace stoka::store::postgres {
namespace {

// The number of rows in one statement; each row has 2 to 8 KB.
constexpr size_t kBatchSize = 500;

template <class T, class Write>
Result<> in_batches(std::span<const T> rows, const Write& write) {
  for (size_t at = 0; at < rows.size(); at += kBatchSize) {
    STOKA_TRY(write(at, rows.subspan(at, std::min(kBatchSize, rows.size() - at))));
  }
  return {};
}

struct Keys {
  std::vector<int64_t> blocks;
  std::vector<int64_t> terms;
  void add(const PostingBlockKey& key) {
    blocks.push_back(key.block);
    terms.push_back(key.term);
  }
};

// The bytes of the edited blocks that exist already.
Result<std::map<PostingBlockKey, std::string>> load_blocks(
    Connection& connection, const std::map<PostingBlockKey, PostingBlockEdit>& edits) {
  Keys keys;
  for (const auto& [key, edit] : edits) keys.add(key);
  STOKA_ASSIGN(const Rows rows,
               connection.run("SELECT p.block, p.term_id, p.data "
                              "FROM unnest($1::bigint[], $2::bigint[]) AS k (block, term) "
                              "JOIN stoka_postings p ON p.term_id = k.term AND p.block = k.block",
                              Params().integers(keys.blocks).integers(keys.terms)));
  std::map<PostingBlockKey, std::string> found;
  for (size_t row = 0; row < rows.size(); ++row) {
    found.emplace(PostingBlockKey{rows.integer(row, 0), rows.integer(row, 1)}, rows.bytes(row, 2));
  }
  return found;
}

}  // namespace

Result<RemovedDocument> remove_document(Connection& connection, std::string_view slug) {
  STOKA_ASSIGN(
      const Rows rows,
      connection.run(
          "WITH document AS (DELETE FROM stoka_documents WHERE slug = $1::text RETURNING slug), "
          "gone AS (DELETE FROM stoka_chunks WHERE source_slug = $1::text "
          "RETURNING id, embedding IS NOT NULL AS has_vector), "
          "terms AS (DELETE FROM stoka_chunk_terms t USING gone WHERE t.chunk_id = gone.id "
          "RETURNING t.chunk_id, t.data) "
          "SELECT g.id, g.has_vector, t.data FROM gone g LEFT JOIN terms t ON t.chunk_id = g.id "
          "UNION ALL SELECT NULL, NULL, NULL FROM document ORDER BY 1 NULLS LAST",
          Params().text(slug)));
  RemovedDocument removed;
  for (size_t row = 0; row < rows.size(); ++row) {
    if (rows.is_null(row, 0)) {
      removed.existed = true;
      continue;
    }
    RemovedChunk& chunk = removed.chunks.emplace_back();
    chunk.id = rows.integer(row, 0);
    removed.vectors += rows.boolean(row, 1);
    if (rows.is_null(row, 2) || !decode_chunk_terms(rows.bytes(row, 2), chunk.terms))
      return fail(damaged());
  }
  return removed;
}

Result<> insert_document(Connection& connection, const Document& document, size_t chunks) {
  Params params;
  params.text(document.slug)
      .text(document.title)
      .text(document.type)
      .text(document.path)
      .text(document.url)
      .text(document.description)
      .text(document.author)
      .text(strings_to_json(document.tags))
      .integer(document.reading_minutes)
      .text(document.content_hash)
      .integer(static_cast<int64_t>(chunks));
  document.date ? params.text(iso_date(*document.date)) : params.null();
  STOKA_TRY(connection.run(
      "INSERT INTO stoka_documents (slug, title, type, path, url, description, author, tags, "
      "reading_time, content_hash, chunks, pub_date) VALUES ($1::text, $2::text, $3::text, "
      "$4::text, $5::text, $6::text, $7::text, $8::text::jsonb, $9::bigint, $10::text, "
      "$11::bigint, $12::text::date)",
      params));
  return {};
}

Result<std::vector<ChunkId>> insert_chunks(Connection& connection, const Extension& extension,
                                           const Document& document,
                                           std::span<const ChunkRecord> chunks) {
  std::vector<ChunkId> ids;
  if (chunks.empty()) return ids;
  std::vector<int64_t> indexes, with_vector;
  std::vector<std::string> types, contents, titles, sections, metadata;
  std::vector<std::vector<float>> vectors;
  for (const ChunkRecord& record : chunks) {
    const Chunk& chunk = record.chunk;
    indexes.push_back(chunk.index);
    types.push_back(chunk.type);
    contents.push_back(chunk.content);
    titles.push_back(chunk.title);
    sections.push_back(chunk.section);
    metadata.push_back(metadata_to_json(document, chunk));
    if (record.embedding.empty()) continue;
    with_vector.push_back(static_cast<int64_t>(indexes.size()));
    vectors.push_back(record.embedding);
  }
  STOKA_ASSIGN(
      const Rows rows,
      connection.run(
          "INSERT INTO stoka_chunks (source_slug, chunk_index, source_type, content, title, "
          "section, metadata, embedding) SELECT $1::text, c.index, c.type, c.content, c.title, "
          "c.section, c.metadata::jsonb, v.embedding FROM unnest($2::bigint[], $3::text[], "
          "$4::text[], $5::text[], $6::text[], $7::text[]) WITH ORDINALITY "
          "AS c (index, type, content, title, section, metadata, n) "
          "LEFT JOIN unnest($8::bigint[], $9::vector[]) AS v (n, embedding) USING (n) "
          "ORDER BY n RETURNING id",
          Params()
              .text(document.slug)
              .integers(indexes)
              .texts(types)
              .texts(contents)
              .texts(titles)
              .texts(sections)
              .texts(metadata)
              .integers(with_vector)
              .vectors(vectors, extension.vector_oid)));
  for (size_t row = 0; row < rows.size(); ++row) ids.push_back(rows.integer(row, 0));
  if (ids.size() != chunks.size() || !std::is_sorted(ids.begin(), ids.end())) {
    return fail(ErrorKind::internal, "the server returned unexpected chunk ids");
  }
  return ids;
}

Result<> delete_index(Connection& connection) {
  // TRUNCATE would be faster, but would show empty tables to readers of an older snapshot.
  STOKA_TRY(connection.run(
      "DELETE FROM stoka_postings; DELETE FROM stoka_terms; DELETE FROM stoka_chunk_terms; "
      "DELETE FROM stoka_basis; DELETE FROM stoka_chunks; DELETE FROM stoka_documents"));
  return {};
}

Result<> replace_basis_rows(Connection& connection, std::span<const BasisRow> basis) {
  STOKA_TRY(connection.run("DELETE FROM stoka_basis"));
  return in_batches(basis, [&](size_t, std::span<const BasisRow> rows) -> Result<> {
    std::vector<std::string> terms, weights, values;
    for (const BasisRow& row : rows) {
      terms.push_back(row.term);
      weights.push_back(fmt::format("{}", row.weight));
      values.push_back(search::encode_vector(row.values));
    }
    STOKA_TRY(connection.run(
        "INSERT INTO stoka_basis (term, weight, data) SELECT b.term, b.weight::float8, b.data "
        "FROM unnest($1::text[], $2::text[], $3::bytea[]) AS b (term, weight, data)",
        Params().texts(terms).texts(weights).blobs(values)));
    return {};
  });
}

Result<> update_vectors(Connection& connection, const Extension& extension,
                        std::span<const ChunkId> chunks,
                        std::span<const std::vector<float>> vectors) {
  return in_batches(chunks, [&](size_t at, std::span<const ChunkId> ids) -> Result<> {
    std::vector<ChunkId> with;
    std::vector<std::vector<float>> values;
    for (size_t i = 0; i < ids.size(); ++i) {
      if (vectors[at + i].empty()) continue;
      with.push_back(ids[i]);
      values.push_back(vectors[at + i]);
    }
    STOKA_TRY(connection.run(
        "UPDATE stoka_chunks c SET embedding = v.embedding FROM unnest($1::bigint[]) AS k (id) "
        "LEFT JOIN unnest($2::bigint[], $3::vector[]) AS v (id, embedding) USING (id) "
        "WHERE c.id = k.id",
        Params().integers(ids).integers(with).vectors(values, extension.vector_oid)));
    return {};
  });
}

Result<std::vector<int64_t>> term_ids(Connection& connection, std::span<const std::string> terms) {
  std::vector<int64_t> ids(terms.size());
  if (terms.empty()) return ids;
  // The SELECT does not see rows that the same statement inserts, so their ids come from RETURNING.
  // ON CONFLICT is not used, because it would skip ids: dense ids make shorter posting lists.
  STOKA_ASSIGN(
      const Rows rows,
      connection.run(
          "WITH wanted AS (SELECT * FROM unnest($1::text[]) WITH ORDINALITY AS w (term, n)), "
          "added AS (INSERT INTO stoka_terms (term, df) SELECT w.term, 0 FROM wanted w "
          "WHERE NOT EXISTS (SELECT FROM stoka_terms t WHERE t.term = w.term) ORDER BY w.n "
          "RETURNING id, term) "
          "SELECT w.n, t.id FROM wanted w JOIN stoka_terms t USING (term) UNION ALL "
          "SELECT w.n, a.id FROM wanted w JOIN added a USING (term)",
          Params().texts(terms)));
  if (rows.size() != terms.size()) return fail(damaged());
  for (size_t row = 0; row < rows.size(); ++row) {
    ids[static_cast<size_t>(rows.integer(row, 0)) - 1] = rows.integer(row, 1);
  }
  return ids;
}

Result<> insert_chunk_terms(Connection& connection, std::span<const ChunkId> chunks,
                            std::span<const std::string> terms) {
  if (chunks.empty()) return {};
  STOKA_TRY(
      connection.run("INSERT INTO stoka_chunk_terms (chunk_id, data) "
                     "SELECT * FROM unnest($1::bigint[], $2::bytea[])",
                     Params().integers(chunks).blobs(terms)));
  return {};
}

Result<> apply_blocks(Connection& connection,
                      const std::map<PostingBlockKey, PostingBlockEdit>& edits) {
  if (edits.empty()) return {};
  STOKA_ASSIGN(const auto before, load_blocks(connection, edits));
  Keys removed, kept;
  std::vector<std::string> data;
  for (const auto& [key, edit] : edits) {
    const auto known = before.find(key);
    std::string after;
    if (!apply_edit(edit, known == before.end() ? std::string_view() : known->second, after))
      return fail(damaged());
    (after.empty() ? removed : kept).add(key);
    if (!after.empty()) data.push_back(std::move(after));
  }
  STOKA_TRY(
      connection.run("WITH gone AS (DELETE FROM stoka_postings p "
                     "USING unnest($1::bigint[], $2::bigint[]) AS k (block, term) "
                     "WHERE p.term_id = k.term AND p.block = k.block) "
                     "INSERT INTO stoka_postings (block, term_id, data) "
                     "SELECT * FROM unnest($3::bigint[], $4::bigint[], $5::bytea[]) "
                     "ON CONFLICT (term_id, block) DO UPDATE SET data = excluded.data",
                     Params()
                         .integers(removed.blocks)
                         .integers(removed.terms)
                         .integers(kept.blocks)
                         .integers(kept.terms)
                         .blobs(data)));
  return {};
}

Result<> apply_frequencies(Connection& connection, const std::map<int64_t, int64_t>& changes) {
  if (changes.empty()) return {};
  std::vector<int64_t> terms, by;
  for (const auto& [term, change] : changes) {
    terms.push_back(term);
    by.push_back(change);
  }
  STOKA_TRY(connection.run(
      "WITH changes AS (SELECT * FROM unnest($1::bigint[], $2::bigint[]) AS c (term, by)), "
      "gone AS (DELETE FROM stoka_terms t USING changes c "
      "WHERE t.id = c.term AND c.by < 0 AND t.df + c.by <= 0) "
      "UPDATE stoka_terms t SET df = t.df + c.by FROM changes c "
      "WHERE t.id = c.term AND t.df + c.by > 0",
      Params().integers(terms).integers(by)));
  return {};
}

}  // namespace stoka::store::postgres
