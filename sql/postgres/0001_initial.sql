-- The index and the sessions in one schema of PostgreSQL 15 or later with pgvector. The program applies
-- it in one transaction under an advisory lock, with the schema and the extension's schema as
-- search_path, and writes the row in stoka_migrations. Every statement can be run again, also on tables
-- of the first design (without stoka_migrations), which must not contain chunks.

CREATE TABLE IF NOT EXISTS stoka_migrations (
  version    INT PRIMARY KEY,
  name       TEXT NOT NULL,
  applied_at TIMESTAMPTZ NOT NULL DEFAULT now()
);

-- A single row: how the index was made, its totals, and the lease of its writer.
CREATE TABLE IF NOT EXISTS stoka_index (
  one_row           BOOLEAN PRIMARY KEY DEFAULT true CHECK (one_row),
  identity          JSONB,
  generation        BIGINT NOT NULL DEFAULT 0,  -- increases with every change of the index
  documents         BIGINT NOT NULL DEFAULT 0,
  chunks            BIGINT NOT NULL DEFAULT 0,
  total_length      BIGINT NOT NULL DEFAULT 0,  -- of all chunks, in terms
  vectors           BIGINT NOT NULL DEFAULT 0,
  dim               BIGINT NOT NULL DEFAULT 0,  -- dimension of the vectors; 0: none yet
  fitted_chunks     BIGINT NOT NULL DEFAULT 0,
  changed_since_fit BIGINT NOT NULL DEFAULT 0,
  indexed_at        BIGINT NOT NULL DEFAULT 0,  -- milliseconds since 1970; 0: no index run has finished
  unfinished        BOOLEAN NOT NULL DEFAULT false,  -- changed since the last finished index run
  writer            UUID,                       -- token of the index run that holds the lease
  writer_name       TEXT,                       -- its host and process, for messages
  writer_backend    INT,                        -- its connection: pid and start time
  writer_started    TIMESTAMPTZ,
  writer_until      TIMESTAMPTZ                 -- the lease expires then
);
INSERT INTO stoka_index DEFAULT VALUES ON CONFLICT DO NOTHING;

CREATE TABLE IF NOT EXISTS stoka_documents (
  slug         TEXT COLLATE "C" PRIMARY KEY,
  title        TEXT NOT NULL,
  type         TEXT NOT NULL,
  path         TEXT NOT NULL,
  url          TEXT NOT NULL,
  description  TEXT NOT NULL,
  author       TEXT NOT NULL,
  tags         JSONB NOT NULL DEFAULT '[]',
  pub_date     DATE,
  reading_time INT NOT NULL,
  content_hash TEXT NOT NULL,
  chunks       INT NOT NULL
);

CREATE TABLE IF NOT EXISTS stoka_chunks (
  id          BIGSERIAL PRIMARY KEY,  -- never reused, so that new postings are appended
  source_type TEXT NOT NULL,
  source_slug TEXT NOT NULL,
  chunk_index INT NOT NULL,
  content     TEXT NOT NULL,
  title       TEXT,
  section     TEXT,
  metadata    JSONB DEFAULT '{}',     -- tags, pubDate, author, readingTime, url
  embedding   vector,                 -- its dimension is in stoka_index
  created_at  TIMESTAMPTZ DEFAULT now(),
  UNIQUE (source_slug, chunk_index)
);
-- The HNSW index stoka_chunks_embedding is created at the end of an index run, when the dimension is known.

CREATE TABLE IF NOT EXISTS stoka_terms (
  id   BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  term TEXT COLLATE "C" NOT NULL UNIQUE,
  df   BIGINT NOT NULL  -- number of chunks that contain the term
);

-- Posting blocks: block = chunk id / 1024; data: varints of id delta, count, chunk length.
CREATE TABLE IF NOT EXISTS stoka_postings (
  term_id BIGINT NOT NULL,
  block   BIGINT NOT NULL,
  data    BYTEA NOT NULL,
  PRIMARY KEY (term_id, block)
);
ALTER TABLE stoka_postings ALTER COLUMN data SET STORAGE EXTERNAL;  -- varints do not compress

-- The terms of each chunk, to find its postings; data: varints of term id delta, count, 0.
CREATE TABLE IF NOT EXISTS stoka_chunk_terms (
  chunk_id BIGINT PRIMARY KEY REFERENCES stoka_chunks (id),
  data     BYTEA NOT NULL
);
ALTER TABLE stoka_chunk_terms ALTER COLUMN data SET STORAGE EXTERNAL;

-- The LSA basis of the built-in embedder: little-endian float32.
CREATE TABLE IF NOT EXISTS stoka_basis (
  term   TEXT COLLATE "C" PRIMARY KEY,
  weight FLOAT8 NOT NULL,
  data   BYTEA NOT NULL
);
ALTER TABLE stoka_basis ALTER COLUMN data SET STORAGE EXTERNAL;

CREATE TABLE IF NOT EXISTS stoka_visitors (
  id              UUID PRIMARY KEY DEFAULT gen_random_uuid(),
  supabase_uid    UUID,                          -- the subject, if it is a user in auth.users
  interests       TEXT[] DEFAULT '{}',
  reading_history JSONB DEFAULT '[]',            -- [{slug, timestamp, scroll_pct}], oldest first
  first_seen      TIMESTAMPTZ DEFAULT now(),
  last_seen       TIMESTAMPTZ DEFAULT now()
);
ALTER TABLE stoka_visitors ADD COLUMN IF NOT EXISTS subject TEXT COLLATE "C";  -- of a verified token
CREATE UNIQUE INDEX IF NOT EXISTS stoka_visitors_subject ON stoka_visitors (subject);

CREATE TABLE IF NOT EXISTS stoka_sessions (
  id              UUID PRIMARY KEY DEFAULT gen_random_uuid(),
  visitor_id      UUID REFERENCES stoka_visitors (id),
  shown_slugs     TEXT[] DEFAULT '{}',  -- a set, in the order first shown
  explored_topics TEXT[] DEFAULT '{}',  -- in order, the last one is the current topic
  turns           INT DEFAULT 0,
  started_at      TIMESTAMPTZ DEFAULT now(),
  last_active     TIMESTAMPTZ DEFAULT now()
);
ALTER TABLE stoka_sessions ADD COLUMN IF NOT EXISTS last_exchange JSONB;  -- the latest exchanges, oldest first
CREATE INDEX IF NOT EXISTS stoka_sessions_visitor ON stoka_sessions (visitor_id);

-- Migrates tables of the first design: vectors have a fixed dimension and an ivfflat index, ids have 4
-- bytes, visitors have a supabase_uid and no subject (the visitor seen last gets it if several have the
-- same one), and a foreign key prevents users from being deleted.
DROP INDEX IF EXISTS stoka_chunks_embedding_idx;
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'stoka_chunks'::regclass
             AND attname = 'embedding' AND atttypmod <> -1) THEN
    ALTER TABLE stoka_chunks ALTER COLUMN embedding TYPE vector, ALTER COLUMN id TYPE BIGINT;
    EXECUTE format('ALTER SEQUENCE %s AS BIGINT', pg_get_serial_sequence('stoka_chunks', 'id'));
  END IF;
END $$;
UPDATE stoka_visitors v SET subject = v.supabase_uid::text
FROM (SELECT DISTINCT ON (supabase_uid) id FROM stoka_visitors WHERE supabase_uid IS NOT NULL
      ORDER BY supabase_uid, last_seen DESC NULLS LAST, id) latest
WHERE v.id = latest.id AND v.subject IS NULL
  AND NOT EXISTS (SELECT FROM stoka_visitors o WHERE o.subject = v.supabase_uid::text);
ALTER TABLE stoka_visitors DROP CONSTRAINT IF EXISTS stoka_visitors_supabase_uid_fkey;

-- Supabase: users are in auth.users, and tables in public are served to everybody unless privileges are
-- revoked.
DO $$
BEGIN
  IF to_regclass('auth.users') IS NOT NULL THEN
    ALTER TABLE stoka_visitors ADD CONSTRAINT stoka_visitors_supabase_uid_fkey
      FOREIGN KEY (supabase_uid) REFERENCES auth.users (id) ON DELETE SET NULL;
  END IF;
EXCEPTION WHEN insufficient_privilege OR wrong_object_type OR undefined_column OR datatype_mismatch
            OR invalid_foreign_key OR foreign_key_violation THEN
  NULL;  -- no privilege to refer to it, or another kind of auth.users: supabase_uid stays a plain column
END $$;
DO $$
DECLARE
  role TEXT;
BEGIN
  FOREACH role IN ARRAY ARRAY['anon', 'authenticated'] LOOP
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = role) THEN
      EXECUTE format('REVOKE ALL ON stoka_migrations, stoka_index, stoka_documents, stoka_chunks, stoka_terms, '
                     'stoka_postings, stoka_chunk_terms, stoka_basis, stoka_visitors, stoka_sessions FROM %I', role);
      EXECUTE format('REVOKE ALL ON SEQUENCE %s, %s FROM %I', pg_get_serial_sequence('stoka_chunks', 'id'),
                     pg_get_serial_sequence('stoka_terms', 'id'), role);
    END IF;
  END LOOP;
END $$;
