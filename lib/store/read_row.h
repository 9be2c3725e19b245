// Reads records from the columns of a row, which every store selects in the same order. A `Row` has
// text(column), integer(column) and is_null(column).
#pragma once

#include <optional>

#include "model/session.h"
#include "store/index_reader.h"
#include "store/json_columns.h"

namespace stoka::store {

// Reads the columns slug, title, type, path, url, description, author, tags, reading_time,
// content_hash, chunks, pub_date.
template <class Row>
DocumentInfo read_document(const Row& row) {
  DocumentInfo info;
  Document& document = info.document;
  document.slug = row.text(0);
  document.title = row.text(1);
  document.type = row.text(2);
  document.path = row.text(3);
  document.url = row.text(4);
  document.description = row.text(5);
  document.author = row.text(6);
  document.tags = strings_from_json(row.text(7));
  document.reading_minutes = static_cast<int>(row.integer(8));
  document.content_hash = row.text(9);
  info.chunks = static_cast<int>(row.integer(10));
  if (!row.is_null(11)) document.date = parse_date(row.text(11));
  return info;
}

// Reads the columns id, source_type, source_slug, chunk_index, content, title, section, metadata.
// Returns nothing if the metadata is damaged.
template <class Row>
std::optional<StoredChunk> read_chunk(const Row& row) {
  StoredChunk stored;
  stored.id = row.integer(0);
  Chunk& chunk = stored.chunk;
  chunk.type = row.text(1);
  chunk.slug = row.text(2);
  chunk.index = static_cast<int>(row.integer(3));
  chunk.content = row.text(4);
  chunk.title = row.text(5);
  chunk.section = row.text(6);
  if (!read_metadata(row.text(7), chunk)) return std::nullopt;
  return stored;
}

// Reads the columns id, subject, interests, reading_history, first_seen, last_seen.
template <class Row>
Visitor read_visitor(const Row& row) {
  Visitor visitor;
  visitor.id = row.text(0);
  visitor.subject = row.text(1);
  visitor.interests = strings_from_json(row.text(2));
  visitor.history = history_from_json(row.text(3));
  visitor.first_seen = instant(row.integer(4));
  visitor.last_seen = instant(row.integer(5));
  return visitor;
}

// Reads the columns id, visitor_id, shown_slugs, explored_topics, turns, last_exchange, started_at,
// last_active.
template <class Row>
Session read_session(const Row& row) {
  Session session;
  session.id = row.text(0);
  session.visitor_id = row.text(1);
  session.shown_slugs = strings_from_json(row.text(2));
  session.explored_topics = strings_from_json(row.text(3));
  session.turns = static_cast<int>(row.integer(4));
  session.exchanges = exchanges_from_json(row.text(5));
  session.started_at = instant(row.integer(6));
  session.last_active = instant(row.integer(7));
  return session;
}

}  // namespace stoka::store
