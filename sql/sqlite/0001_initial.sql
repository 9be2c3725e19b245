-- The index and the sessions in one SQLite file. Applied in one transaction. The program writes the row
-- in stoka_migrations and user_version.
-- Times are integer milliseconds since 1970 UTC; lists are JSON arrays.

CREATE TABLE stoka_migrations (
  version    INTEGER PRIMARY KEY,
  name       TEXT NOT NULL,
  applied_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
);

-- How the index was made, its totals, and a generation that increases with every change.
CREATE TABLE stoka_meta (
  key   TEXT PRIMARY KEY,
  value NOT NULL
) WITHOUT ROWID;

CREATE TABLE stoka_documents (
  slug         TEXT PRIMARY KEY,
  title        TEXT NOT NULL,
  type         TEXT NOT NULL,
  path         TEXT NOT NULL,
  url          TEXT NOT NULL,
  description  TEXT NOT NULL,
  author       TEXT NOT NULL,
  tags         TEXT NOT NULL DEFAULT '[]',
  pub_date     TEXT,
  reading_time INTEGER NOT NULL,
  content_hash TEXT NOT NULL,
  chunks       INTEGER NOT NULL
) WITHOUT ROWID;

-- Ids are never reused, so that new postings are appended and the chunks of a run share posting blocks.
CREATE TABLE stoka_chunks (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  source_type TEXT NOT NULL,
  source_slug TEXT NOT NULL REFERENCES stoka_documents (slug),
  chunk_index INTEGER NOT NULL,
  content     TEXT NOT NULL,
  title       TEXT NOT NULL,
  section     TEXT NOT NULL,
  metadata    TEXT NOT NULL DEFAULT '{}',  -- tags, pubDate, author, readingTime, url
  created_at  INTEGER,                     -- end of the run that wrote it; NULL until then
  UNIQUE (source_slug, chunk_index)
);
CREATE INDEX stoka_chunks_unfinished ON stoka_chunks (id) WHERE created_at IS NULL;

-- Little-endian float32. Not in stoka_chunks, so that a scan of the vectors does not read the text.
CREATE TABLE stoka_vectors (
  chunk_id  INTEGER PRIMARY KEY REFERENCES stoka_chunks (id),
  embedding BLOB NOT NULL CHECK (length(embedding) % 4 = 0)
);

CREATE TABLE stoka_terms (
  id   INTEGER PRIMARY KEY,
  term TEXT NOT NULL UNIQUE,
  df   INTEGER NOT NULL  -- number of chunks that contain the term
);

-- Posting blocks: block = chunk id / 1024; data: varints of id delta, count, chunk length. Ordered by
-- block first, so that a new document rewrites adjacent pages; a query looks up its terms in each block.
CREATE TABLE stoka_postings (
  block   INTEGER NOT NULL,
  term_id INTEGER NOT NULL,
  data    BLOB NOT NULL,
  PRIMARY KEY (block, term_id)
) WITHOUT ROWID;

-- The terms of each chunk, to find its postings; data: varints of term id delta, count, 0.
CREATE TABLE stoka_chunk_terms (
  chunk_id INTEGER PRIMARY KEY REFERENCES stoka_chunks (id),
  data     BLOB NOT NULL
);

-- The LSA basis of the built-in embedder.
CREATE TABLE stoka_basis (
  term   TEXT PRIMARY KEY,
  weight REAL NOT NULL,
  data   BLOB NOT NULL
);

CREATE TABLE stoka_visitors (
  id              TEXT PRIMARY KEY,
  subject         TEXT UNIQUE,  -- of a verified token; NULL for an anonymous visitor
  interests       TEXT NOT NULL DEFAULT '[]',
  reading_history TEXT NOT NULL DEFAULT '[]',
  first_seen      INTEGER NOT NULL,
  last_seen       INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE stoka_sessions (
  id              TEXT PRIMARY KEY,
  visitor_id      TEXT NOT NULL REFERENCES stoka_visitors (id),
  shown_slugs     TEXT NOT NULL DEFAULT '[]',  -- a set, in the order first shown
  explored_topics TEXT NOT NULL DEFAULT '[]',  -- in order, the last one is the current topic
  turns           INTEGER NOT NULL DEFAULT 0,
  last_exchange   TEXT NOT NULL DEFAULT '[]',  -- the latest exchanges, oldest first
  started_at      INTEGER NOT NULL,
  last_active     INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX stoka_sessions_visitor ON stoka_sessions (visitor_id);
