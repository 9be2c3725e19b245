// Schema migrations, and their errors.
#include <doctest/doctest.h>

#include <thread>

#include "base/embedded.h"
#include "store/corpus.h"
#include "store/open.h"
#include "store/postgres/schema.h"
#include "store/postgres_test_server.h"
#include "support/postgres.h"
#include "support/postgres_programs.h"

namespace postgres_schema_test {

using namespace stoka;
using namespace stoka::store;
using stoka::testing::PostgresServer;
using stoka::testing::TestDatabase;

namespace {

std::unique_ptr<postgres::Database> connect(const std::string& url) {
  auto address = postgres::DatabaseAddress::parse(url);
  REQUIRE_MESSAGE(address, (address ? "" : address.error().message));
  auto database = postgres::Database::open(*address, {});
  REQUIRE_MESSAGE(database, (database ? "" : database.error().message));
  return std::move(*database);
}

Result<postgres::Schema> migrate(const std::string& url) {
  return postgres::migrate(*connect(url));
}
Result<postgres::Schema> check_schema(const std::string& url) {
  return postgres::check_schema(*connect(url));
}

void require(const Result<postgres::Schema>& done) {
  REQUIRE_MESSAGE(done, (done ? "" : done.error().message));
}

// Columns, constraints and indexes of a schema as text.
constexpr const char* kShape =
    "SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, "
    "pg_get_expr(d.adbin, d.adrelid) FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid "
    "LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum "
    "WHERE c.relnamespace = current_schema()::regnamespace AND a.attnum > 0 "
    "AND NOT a.attisdropped ORDER BY 1, 2; "
    "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint "
    "WHERE connamespace = current_schema()::regnamespace ORDER BY 1; "
    "SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema() ORDER BY 1";

// The tables of the first design, without the later columns.
std::string first_design(const std::string& users) {
  return "CREATE TABLE stoka_chunks (id SERIAL PRIMARY KEY, source_type TEXT NOT NULL, "
         "source_slug TEXT NOT NULL, chunk_index INT NOT NULL, content TEXT NOT NULL, title TEXT, "
         "section TEXT, metadata JSONB DEFAULT '{}', embedding vector(1024), "
         "created_at TIMESTAMPTZ DEFAULT now(), UNIQUE (source_slug, chunk_index)); "
         "CREATE INDEX ON stoka_chunks USING ivfflat (embedding vector_cosine_ops) "
         "WITH (lists = 20); "
         "CREATE TABLE stoka_visitors (id UUID PRIMARY KEY DEFAULT gen_random_uuid(), "
         "supabase_uid UUID " +
         users +
         ", interests TEXT[] DEFAULT '{}', reading_history JSONB DEFAULT '[]', "
         "first_seen TIMESTAMPTZ DEFAULT now(), last_seen TIMESTAMPTZ DEFAULT now()); "
         "CREATE TABLE stoka_sessions (id UUID PRIMARY KEY DEFAULT gen_random_uuid(), "
         "visitor_id UUID REFERENCES stoka_visitors (id), shown_slugs TEXT[] DEFAULT '{}', "
         "explored_topics TEXT[] DEFAULT '{}', turns INT DEFAULT 0, "
         "started_at TIMESTAMPTZ DEFAULT now(), last_active TIMESTAMPTZ DEFAULT now());";
}

constexpr const char* kUser = "00000000-0000-4000-8000-00000000000a";

// Three visitors with a session each; two of them have the same supabase_uid.
std::string some_visitors() {
  return std::string("INSERT INTO stoka_visitors (supabase_uid, interests, last_seen) VALUES ('") +
         kUser + "', '{old}', now() - interval '1 day'), ('" + kUser +
         "', '{new}', now()), (NULL, '{}', now()); "
         "INSERT INTO stoka_sessions (visitor_id, shown_slugs) SELECT id, '{a,b}' "
         "FROM stoka_visitors;";
}

void put_something(const std::string& url) {
  const auto store = store::open(url, OpenMode::read_write);
  REQUIRE_MESSAGE(store, (store ? "" : store.error().message));
  auto writer = (*store)->begin_index();
  REQUIRE_MESSAGE(writer, (writer ? "" : writer.error().message));
  Corpus corpus(1);
  for (const char* slug : {"a", "b", "c"}) corpus.put(**writer, slug);
  const auto finished = (*writer)->finish(Instant());
  REQUIRE_MESSAGE(finished, (finished ? "" : finished.error().message));
  corpus.check(**store);
}

// The shared server, for tests that create roles and databases; null if it has no pgvector.
const PostgresServer* own_server() {
  if (postgres::shared_server().has_vector()) return &postgres::shared_server();
  MESSAGE("needs native PostgreSQL with pgvector");
  return nullptr;
}

// A new database on that server, with a role "app" that may log in and owns nothing.
struct OwnDatabase {
  const PostgresServer& server;
  std::string name = testing::random_name();

  explicit OwnDatabase(const PostgresServer& of) : server(of) {
    server.sql("CREATE DATABASE " + name, "postgres");
    if (server.sql("SELECT count(*) FROM pg_roles WHERE rolname = 'app'") == "0")
      server.sql("CREATE ROLE app LOGIN PASSWORD 'pw'");
  }
  std::string sql(const std::string& statements) const { return server.sql(statements, name); }
  std::string url() const { return server.url(name); }
  std::string app_url() const {
    return "postgres://app:pw@127.0.0.1:" + std::to_string(server.port()) + "/" + name;
  }
};

}  // namespace

TEST_CASE("the migrations are applied once and recorded") {
  const TestDatabase db;
  const auto missing = check_schema(db.url());
  REQUIRE_FALSE(missing);
  CHECK(missing.error().kind == ErrorKind::not_found);
  CHECK(missing.error().message.find("there is no index in schema " + db.schema()) == 0);
  CHECK(missing.error().hint == "run: stoka index PATH");
  CHECK(db.sql("SELECT count(*) FROM pg_class WHERE relnamespace = "
               "current_schema()::regnamespace") == "0");

  const auto made = migrate(db.url());
  require(made);
  CHECK(made->name == db.schema());
  CHECK(made->vector.at_least(0, 5));
  CHECK(std::to_string(made->vector.vector_oid) == db.sql("SELECT 'vector'::regtype::oid"));
  const std::string recorded = db.sql("SELECT * FROM stoka_migrations");
  CHECK(recorded.find("1|0001_initial.sql|") == 0);

  const auto again = migrate(db.url());
  require(again);
  CHECK(again->name == made->name);
  CHECK(db.sql("SELECT * FROM stoka_migrations") == recorded);
  const auto checked = check_schema(db.url());
  require(checked);
  CHECK(checked->vector.vector_oid == made->vector.vector_oid);
}

TEST_CASE("every statement of a migration can be run again on tables that are in use") {
  const TestDatabase db;
  put_something(db.url());
  const std::string shape = db.sql(kShape);
  const std::string graph =
      "SELECT relfilenode FROM pg_class WHERE relname = "
      "'stoka_chunks_embedding' AND relnamespace = "
      "current_schema()::regnamespace";
  const std::string made = db.sql(graph);
  CHECK_FALSE(made.empty());
  for (const EmbeddedFile& file : embedded::sql_postgres()) {
    db.sql("SET client_min_messages = warning; " + std::string(file.text));
  }
  CHECK(db.sql(kShape) == shape);
  CHECK(db.sql(graph) == made);
  CHECK(db.sql("SELECT documents FROM stoka_index") == "3");
}

TEST_CASE("stores that open an empty database at the same time all succeed") {
  const TestDatabase db;
  std::vector<Result<postgres::Schema>> done(10, fail(ErrorKind::internal, "not run"));
  {
    std::vector<std::jthread> threads;
    for (auto& one : done) threads.emplace_back([&] { one = migrate(db.url()); });
  }
  for (const auto& one : done) CHECK_MESSAGE(one, (one ? "" : one.error().message));
  CHECK(db.sql("SELECT count(*) FROM stoka_migrations") == "1");
}

TEST_CASE("stores that open schemas of one new database at the same time all succeed") {
  const PostgresServer* const server = own_server();
  if (!server) return;
  const OwnDatabase database(*server);
  std::vector<Result<postgres::Schema>> done(8, fail(ErrorKind::internal, "not run"));
  for (const char* schema : {"s0", "s1", "s2", "s3"}) {
    database.sql(std::string("CREATE SCHEMA ") + schema);
  }
  {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < done.size(); ++i) {
      threads.emplace_back([&, i] {
        done[i] = migrate(database.url() + "?options=-csearch_path%3Ds" + std::to_string(i % 4));
      });
    }
  }
  for (const auto& one : done) CHECK_MESSAGE(one, (one ? "" : one.error().message));
  // The extension is in none of these schemas, so that each can be dropped.
  CHECK(database.sql("SELECT extnamespace::regnamespace FROM pg_extension "
                     "WHERE extname = 'vector'") == "public");
}

TEST_CASE("a newer schema version is refused, and an older one is migrated") {
  const TestDatabase db;
  require(migrate(db.url()));
  SUBCASE("a newer version") {
    db.sql("INSERT INTO stoka_migrations (version, name) VALUES (7, 'later')");
    for (const auto& refused : {migrate(db.url()), check_schema(db.url())}) {
      REQUIRE_FALSE(refused);
      CHECK(refused.error().kind == ErrorKind::data);
      CHECK(refused.error().message.find("was written by a newer stoka (schema 7, this one knows "
                                         "1)") != std::string::npos);
      CHECK_FALSE(refused.error().hint.empty());
    }
  }
  SUBCASE("an older version") {
    db.sql(
        "INSERT INTO stoka_visitors (interests) VALUES ('{kept}'); "
        "DELETE FROM stoka_migrations");
    const auto refused = check_schema(db.url());
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == ErrorKind::data);
    CHECK(refused.error().message.find("was written by an older stoka") != std::string::npos);
    CHECK(refused.error().hint == "run: stoka index PATH");
    require(migrate(db.url()));
    require(check_schema(db.url()));
    CHECK(db.sql("SELECT version FROM stoka_migrations") == "1");
    CHECK(db.sql("SELECT interests FROM stoka_visitors") == "{kept}");
  }
}

TEST_CASE("tables of the first schema version are adopted if they have no chunks") {
  const TestDatabase db;
  db.sql("SET client_min_messages = error; " + first_design("") + some_visitors() +
         "INSERT INTO stoka_chunks (source_type, source_slug, chunk_index, content) "
         "VALUES ('blog', 'a', 0, 'x')");
  const std::string sessions = db.sql("SELECT * FROM stoka_sessions ORDER BY id");

  const auto refused = migrate(db.url());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == ErrorKind::data);
  CHECK(refused.error().message ==
        "the chunks in schema " + db.schema() + " were made by another program");
  CHECK(refused.error().hint == "TRUNCATE stoka_chunks, then run: stoka index PATH");
  CHECK(db.sql("SELECT count(*) FROM stoka_chunks") == "1");

  db.sql("TRUNCATE stoka_chunks");
  require(migrate(db.url()));
  CHECK(db.sql("SELECT id, visitor_id, shown_slugs, explored_topics, turns, started_at, "
               "last_active FROM stoka_sessions ORDER BY id") == sessions);
  CHECK(db.sql("SELECT subject, interests FROM stoka_visitors WHERE subject IS NOT NULL") ==
        std::string(kUser) + "|{new}");
  CHECK(db.sql("SELECT count(*) FROM stoka_visitors") == "3");
  CHECK(db.sql("SELECT count(*) FROM pg_indexes WHERE schemaname = current_schema() "
               "AND indexdef LIKE '%ivfflat%'") == "0");

  // Vectors of another dimension, and ids that do not fit into 4 bytes.
  db.sql("SELECT setval('stoka_chunks_id_seq', 2147483647)");
  put_something(db.url());
  CHECK(db.sql("SELECT min(id) > 2147483647 FROM stoka_chunks") == "t");
}

TEST_CASE("on Supabase visitors refer to auth.users, and public roles have no access") {
  const PostgresServer* const server = own_server();
  if (!server) return;
  const OwnDatabase database(*server);
  for (const char* role : {"anon", "authenticated"}) {
    if (server->sql(std::string("SELECT count(*) FROM pg_roles WHERE rolname = '") + role + "'") ==
        "0")
      server->sql(std::string("CREATE ROLE ") + role);
  }
  database.sql(
      "CREATE SCHEMA extensions; CREATE SCHEMA auth; "
      "CREATE TABLE auth.users (id UUID PRIMARY KEY); "
      "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT ALL ON TABLES TO anon, authenticated; "
      "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT ALL ON SEQUENCES TO anon, authenticated");
  SUBCASE("in a new project") {}
  SUBCASE("with tables of the first design") {
    database.sql(std::string("SET client_min_messages = error; "
                             "CREATE EXTENSION vector WITH SCHEMA extensions; "
                             "SET search_path = public, extensions; "
                             "INSERT INTO auth.users VALUES ('") +
                 kUser + "');" + first_design("REFERENCES auth.users (id)") + some_visitors());
    require(migrate(database.url()));
    database.sql("DELETE FROM auth.users");
    CHECK(database.sql("SELECT subject, interests, supabase_uid IS NULL FROM stoka_visitors "
                       "WHERE subject IS NOT NULL") == std::string(kUser) + "|{new}|t");
  }
  put_something(database.url());
  CHECK(database.sql("SELECT extnamespace::regnamespace FROM pg_extension "
                     "WHERE extname = 'vector'") == "extensions");
  CHECK(database.sql("SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'f' "
                     "AND conrelid = 'stoka_visitors'::regclass") ==
        "FOREIGN KEY (supabase_uid) REFERENCES auth.users(id) ON DELETE SET NULL");
  CHECK(database.sql("SELECT count(*) FROM information_schema.table_privileges "
                     "WHERE grantee IN ('anon', 'authenticated')") == "0");
  CHECK(database.sql("SELECT bool_or(has_sequence_privilege('anon', c.oid, 'USAGE')) "
                     "FROM pg_class c WHERE relkind = 'S'") == "f");
}

TEST_CASE("whatever prevents a migration gives an error with a hint") {
  const PostgresServer* const server = own_server();
  if (!server) return;
  struct {
    const char* name;
    const char* setup;
    bool as_app;
    const char* options;
    ErrorKind kind;
    const char* message;
    const char* hint;
  } const cases[] = {
      {"no such schema", "", false, "?options=-csearch_path%3Dnowhere", ErrorKind::config,
       "the search_path nowhere names no existing schema for role stoka", "CREATE SCHEMA"},
      {"a schema that the role may not use", "CREATE SCHEMA closed", true,
       "?options=-csearch_path%3Dclosed", ErrorKind::config,
       "the search_path closed names no existing schema for role app", "GRANT USAGE, CREATE"},
      {"a schema in which it may not create", "CREATE EXTENSION vector", true, "",
       ErrorKind::config, "role app may not create tables in schema public",
       "GRANT USAGE, CREATE ON SCHEMA public TO app"},
      {"an extension that it may not create", "GRANT CREATE ON SCHEMA public TO app", true, "",
       ErrorKind::config, "this role may not create the extension vector",
       "CREATE EXTENSION vector"},
      // It hides the server's own view, because pg_catalog is searched after it.
      {"a server without the extension",
       "CREATE SCHEMA bare; CREATE VIEW bare.pg_available_extensions AS SELECT 'x' AS name", false,
       "?options=-csearch_path%3Dbare%2Cpg_catalog", ErrorKind::config,
       "the server has no pgvector", "-pgvector), then as superuser in database"},
      {"an extension that is too old",
       "CREATE EXTENSION vector; UPDATE pg_extension SET extversion = '0.4.4' "
       "WHERE extname = 'vector'",
       false, "", ErrorKind::config, "pgvector 0.4.4 is too old: 0.5 or later is needed",
       "ALTER EXTENSION vector UPDATE"},
      {"a view of a table's name",
       "CREATE EXTENSION vector; CREATE VIEW stoka_chunks AS SELECT 1 AS id WHERE false", false, "",
       ErrorKind::data, "cannot make the tables in schema public: ", "name another schema"},
      {"a table of that name with other columns", "CREATE TABLE stoka_visitors (x INT)", false, "",
       ErrorKind::data, "cannot make the tables in schema public: ", "name another schema"},
      {"tables that belong to somebody else",
       "CREATE EXTENSION vector; CREATE TABLE stoka_visitors (x INT); "
       "GRANT CREATE ON SCHEMA public TO app",
       true, "", ErrorKind::config, "must be owner of table stoka_visitors", "grant it"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.name);
    const OwnDatabase database(*server);
    if (*c.setup) database.sql(c.setup);
    const auto refused = migrate((c.as_app ? database.app_url() : database.url()) + c.options);
    REQUIRE_FALSE(refused);
    CAPTURE(refused.error().message);
    CAPTURE(refused.error().hint);
    CHECK(refused.error().kind == c.kind);
    CHECK(refused.error().message.find(c.message) != std::string::npos);
    CHECK(refused.error().message.find('\n') == std::string::npos);
    CHECK(refused.error().hint.find(c.hint) != std::string::npos);
    CHECK(database.sql("SELECT count(*) FROM pg_class WHERE relname = 'stoka_index'") == "0");
  }
}

TEST_CASE("a role needs only the privileges for its own operations") {
  const PostgresServer* const server = own_server();
  if (!server) return;
  const OwnDatabase database(*server);
  database.sql("CREATE EXTENSION vector");
  SUBCASE("it may create tables, but no extension") {
    database.sql("GRANT CREATE ON SCHEMA public TO app");
    put_something(database.app_url());
  }
  SUBCASE("it may write to existing tables") {
    require(migrate(database.url()));
    database.sql("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO app");
    require(migrate(database.app_url()));
  }
  SUBCASE("it may only read") {
    require(migrate(database.url()));
    database.sql("GRANT SELECT ON stoka_migrations TO app");
    require(check_schema(database.app_url()));
  }
}

}  // namespace postgres_schema_test
