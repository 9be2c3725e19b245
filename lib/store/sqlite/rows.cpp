#include "store/sqlite/rows.h"

#include <nlohmann/json.hpp>

#include "search/vectors.h"

namespace stoka::store::sqlite {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kChunkColumns =
    "SELECT c.id, c.source_type, c.source_slug, c.chunk_index, c.content, c.title, c.section, "
    "c.metadata";

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::vector<std::string> texts(const Json& list) {
  std::vector<std::string> found;
  if (!list.is_array()) return found;
  for (const Json& item : list) {
    if (item.is_string()) found.push_back(item.get<std::string>());
  }
  return found;
}

std::string metadata(const Document& document, const Chunk& chunk) {
  Json json = {{"tags", chunk.tags},
               {"readingTime", chunk.reading_minutes},
               {"author", document.author},
               {"url", chunk.url}};
  if (chunk.date) json["pubDate"] = iso_date(*chunk.date);
  return dump(json);
}

Result<StoredChunk> read_chunk(const Database& database, const Statement& row) {
  StoredChunk stored;
  stored.id = row.integer(0);
  Chunk& chunk = stored.chunk;
  chunk.type = row.text(1);
  chunk.slug = row.text(2);
  chunk.index = static_cast<int>(row.integer(3));
  chunk.content = row.text(4);
  chunk.title = row.text(5);
  chunk.section = row.text(6);
  const Json json = Json::parse(row.text(7), nullptr, false);
  if (!json.is_object()) return fail(database.damaged());
  for (const auto& [key, value] : json.items()) {
    if (key == "tags") chunk.tags = texts(value);
    if (key == "url" && value.is_string()) chunk.url = value.get<std::string>();
    if (key == "pubDate" && value.is_string()) chunk.date = parse_date(value.get<std::string>());
    if (key == "readingTime" && value.is_number_integer()) chunk.reading_minutes = value.get<int>();
  }
  return stored;
}

}  // namespace

std::string to_json(std::span<const std::string> list) {
  return dump(Json(std::vector<std::string>(list.begin(), list.end())));
}

std::vector<std::string> texts_from_json(std::string_view json) {
  return texts(Json::parse(json, nullptr, false));
}

Result<> insert_document(Database& database, const Document& document, size_t chunks) {
  Statement insert = database.prepare(
      "INSERT INTO stoka_documents (slug, title, type, path, url, description, author, tags, "
      "reading_time, content_hash, chunks, pub_date) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  insert.bind(document.slug)
      .bind(document.title)
      .bind(document.type)
      .bind(document.path)
      .bind(document.url)
      .bind(document.description)
      .bind(document.author)
      .bind(to_json(document.tags))
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

Result<std::vector<DocumentInfo>> load_documents(Database& database) {
  std::vector<DocumentInfo> documents;
  Statement rows = database.prepare(
      "SELECT slug, title, type, path, url, description, author, tags, reading_time, content_hash, "
      "chunks, pub_date FROM stoka_documents ORDER BY slug");
  for (;;) {
    STOKA_ASSIGN(const bool row, rows.step());
    if (!row) return documents;
    DocumentInfo& info = documents.emplace_back();
    Document& document = info.document;
    document.slug = rows.text(0);
    document.title = rows.text(1);
    document.type = rows.text(2);
    document.path = rows.text(3);
    document.url = rows.text(4);
    document.description = rows.text(5);
    document.author = rows.text(6);
    document.tags = texts_from_json(rows.text(7));
    document.reading_minutes = static_cast<int>(rows.integer(8));
    document.content_hash = rows.text(9);
    info.chunks = static_cast<int>(rows.integer(10));
    if (!rows.is_null(11)) document.date = parse_date(rows.text(11));
  }
}

Result<ChunkId> insert_chunk(Database& database, const Document& document, const Chunk& chunk) {
  STOKA_TRY(
      database
          .prepare("INSERT INTO stoka_chunks (source_type, source_slug, chunk_index, content, "
                   "title, section, metadata) VALUES (?, ?, ?, ?, ?, ?, ?)")
          .bind(chunk.type)
          .bind(document.slug)
          .bind(int64_t{chunk.index})
          .bind(chunk.content)
          .bind(chunk.title)
          .bind(chunk.section)
          .bind(metadata(document, chunk))
          .run());
  return database.last_insert_id();
}

Result<std::vector<StoredChunk>> load_chunks(Database& database, std::span<const ChunkId> ids,
                                             bool with_embeddings) {
  STOKA_ASSIGN(const Transaction snapshot, Transaction::begin(database, Transaction::Kind::read));
  std::vector<StoredChunk> chunks;
  Statement rows = database.prepare(
      std::string(kChunkColumns) +
      (with_embeddings ? ", v.embedding FROM stoka_chunks c LEFT JOIN stoka_vectors v "
                         "ON v.chunk_id = c.id WHERE c.id = ?"
                       : " FROM stoka_chunks c WHERE c.id = ?"));
  for (const ChunkId id : ids) {
    rows.reset().bind(id);
    STOKA_ASSIGN(const bool row, rows.step());
    if (!row) continue;
    STOKA_ASSIGN(StoredChunk stored, read_chunk(database, rows));
    if (with_embeddings) {
      const std::string_view bytes = rows.blob(8);
      stored.embedding = search::from_bytes(bytes, bytes.size() / sizeof(float));
    }
    chunks.push_back(std::move(stored));
  }
  return chunks;
}

Result<std::vector<StoredChunk>> load_chunks_of(Database& database, std::string_view slug) {
  std::vector<StoredChunk> chunks;
  Statement rows =
      database.prepare(std::string(kChunkColumns) +
                       " FROM stoka_chunks c WHERE c.source_slug = ? ORDER BY c.chunk_index");
  rows.bind(slug);
  for (;;) {
    STOKA_ASSIGN(const bool row, rows.step());
    if (!row) return chunks;
    STOKA_ASSIGN(StoredChunk stored, read_chunk(database, rows));
    chunks.push_back(std::move(stored));
  }
}

Result<std::vector<uint64_t>> load_document_frequencies(Database& database,
                                                        std::span<const std::string> terms) {
  STOKA_ASSIGN(const Transaction snapshot, Transaction::begin(database, Transaction::Kind::read));
  std::vector<uint64_t> frequencies;
  Statement rows = database.prepare("SELECT df FROM stoka_terms WHERE term = ?");
  for (const std::string& term : terms) {
    rows.reset().bind(term);
    STOKA_ASSIGN(const bool row, rows.step());
    frequencies.push_back(row ? static_cast<uint64_t>(rows.integer(0)) : 0);
  }
  return frequencies;
}

Result<std::vector<BasisRow>> load_basis_rows(Database& database,
                                              std::span<const std::string> terms) {
  STOKA_ASSIGN(const Transaction snapshot, Transaction::begin(database, Transaction::Kind::read));
  std::vector<BasisRow> found;
  Statement rows = database.prepare("SELECT term, weight, data FROM stoka_basis WHERE term = ?");
  for (const std::string& term : terms) {
    rows.reset().bind(term);
    STOKA_ASSIGN(const bool row, rows.step());
    if (!row) continue;
    const std::string_view bytes = rows.blob(2);
    std::vector<float> values = search::from_bytes(bytes, bytes.size() / sizeof(float));
    if (values.empty()) return fail(database.damaged());
    found.push_back({rows.text(0), static_cast<float>(rows.real(1)), std::move(values)});
  }
  return found;
}

}  // namespace stoka::store::sqlite
