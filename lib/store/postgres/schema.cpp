#include "store/postgres/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "base/embedded.h"
#include "store/migrations.h"
#include "store/postgres/params.h"

namespace stoka::store::postgres {
namespace {

constexpr int kMinServerVersion = 15;

int64_t latest_version() { return store::latest_migration_version(embedded::sql_postgres()); }

struct SchemaState {
  std::string schema;                  // the current schema
  std::optional<Extension> extension;  // the extension pgvector; nothing if it is not installed
  bool has_tables = false;  // whether there are tables of stoka, including stoka_migrations
  int64_t version = 0;
};

Error no_schema(const Rows& row) {
  const std::string path(row.text(0, 1)), role(row.text(0, 2));
  const std::string first = path.substr(0, path.find(','));
  return {
      ErrorKind::config,
      fmt::format("the search_path {} names no existing schema for role {}", path, role),
      fmt::format("CREATE SCHEMA {} AUTHORIZATION {}, or GRANT USAGE, CREATE ON SCHEMA {} TO {}",
                  first, role, first, role)};
}

Result<std::optional<Extension>> find_extension(Connection& connection) {
  STOKA_ASSIGN(const Rows rows,
               connection.run("SELECT n.nspname, e.extversion, t.oid::bigint FROM pg_extension e "
                              "JOIN pg_namespace n ON n.oid = e.extnamespace "
                              "JOIN pg_type t ON t.typnamespace = n.oid AND t.typname = 'vector' "
                              "WHERE e.extname = 'vector'"));
  if (rows.size() == 0) return std::optional<Extension>();
  Extension extension;
  extension.schema = rows.text(0, 0);
  const std::string version(rows.text(0, 1));
  extension.vector_oid = static_cast<uint32_t>(rows.integer(0, 2));
  const char* const end = version.data() + version.size();
  const auto major = std::from_chars(version.data(), end, extension.major);
  if (major.ptr != end) std::from_chars(major.ptr + 1, end, extension.minor);
  if (extension.at_least(0, 5)) return extension;
  return fail(ErrorKind::config, "pgvector " + version + " is too old: 0.5 or later is needed",
              "install a newer one on the server, then: ALTER EXTENSION vector UPDATE");
}

Result<> check_usage(Connection& connection, const Extension& extension) {
  STOKA_ASSIGN(const Rows rows,
               connection.run("SELECT has_schema_privilege($1::text, 'USAGE'), current_user, "
                              "format('GRANT USAGE ON SCHEMA %I TO %I', $1::text, current_user)",
                              Params().text(extension.schema)));
  if (rows.boolean(0, 0)) return {};
  return fail(
      ErrorKind::config,
      fmt::format("role {} may not use pgvector in schema {}", rows.text(0, 1), extension.schema),
      std::string(rows.text(0, 2)));
}

Result<SchemaState> inspect(Connection& connection, const DatabaseAddress& address) {
  if (connection.server_version() / 10000 < kMinServerVersion) {
    return fail(ErrorKind::config,
                fmt::format("{} is PostgreSQL {}: {} or later is needed", address.describe(),
                            connection.server_version() / 10000, kMinServerVersion),
                "upgrade the server, or name another one with --store");
  }
  STOKA_ASSIGN(const Rows row, connection.run("SELECT current_schema(), "
                                              "current_setting('search_path'), current_user"));
  if (row.is_null(0, 0)) return fail(no_schema(row));
  SchemaState state;
  state.schema = row.text(0, 0);
  STOKA_ASSIGN(state.extension, find_extension(connection));
  if (state.extension) STOKA_TRY(check_usage(connection, *state.extension));
  STOKA_ASSIGN(const Rows tables,
               connection.run("SELECT FROM pg_class WHERE relname = 'stoka_migrations' "
                              "AND relnamespace = current_schema()::regnamespace"));
  state.has_tables = tables.size() > 0;
  if (!state.has_tables) return state;
  STOKA_ASSIGN(const Rows versions, connection.run("SELECT max(version)::bigint "
                                                   "FROM stoka_migrations"));
  state.version = versions.integer(0, 0);
  if (state.version <= latest_version()) return state;
  return fail(
      ErrorKind::data,
      fmt::format("the schema {} of {} was written by a newer stoka (schema {}, this one knows {})",
                  state.schema, address.describe(), state.version, latest_version()),
      "upgrade stoka, or name another database with --store");
}

bool is_newest(const SchemaState& state) {
  return state.extension && state.has_tables && state.version == latest_version();
}

Result<> create_extension(Connection& connection) {
  // The lock is for the whole database, because concurrent CREATE EXTENSION fails. The extension
  // goes into "extensions" or "public" if possible, so that dropping this schema does not drop the
  // vectors of other sites.
  STOKA_TRY(connection.run("SELECT pg_advisory_xact_lock(1937009003)"));
  STOKA_ASSIGN(const std::optional<Extension> other, find_extension(connection));
  if (other) return {};
  STOKA_ASSIGN(
      const Rows facts,
      connection.run(
          "SELECT (SELECT count(*) FROM pg_available_extensions WHERE name = 'vector'), "
          "current_database(), format('CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA %I', "
          "coalesce("
          "(SELECT nspname FROM pg_namespace WHERE nspname IN ('extensions', 'public') "
          "AND has_schema_privilege(oid, 'CREATE') ORDER BY nspname LIMIT 1), current_schema()))"));
  const std::string database(facts.text(0, 1));
  if (facts.integer(0, 0) == 0) {
    return fail(ErrorKind::config, "the server has no pgvector",
                fmt::format("install it there (Debian: postgresql-{}-pgvector), then as superuser "
                            "in database {}: CREATE EXTENSION vector",
                            connection.server_version() / 10000, database));
  }
  const auto created = connection.run(facts.text(0, 2));
  if (created) return {};
  if (connection.sqlstate() != "42501") return fail(created.error());
  return fail(ErrorKind::config, "this role may not create the extension vector",
              "as superuser in database " + database + ": CREATE EXTENSION vector");
}

// Tables without stoka_migrations have the first schema version. They are adopted only if they have
// no chunks, because it is unknown how such chunks were made.
Result<> check_foreign_chunks(Connection& connection, const SchemaState& state) {
  STOKA_ASSIGN(const Rows tables,
               connection.run("SELECT FROM pg_class WHERE relname = 'stoka_chunks' "
                              "AND relnamespace = current_schema()::regnamespace"));
  if (tables.size() == 0) return {};
  STOKA_ASSIGN(const Rows rows, connection.run("SELECT FROM stoka_chunks LIMIT 1"));
  if (rows.size() == 0) return {};
  return fail(ErrorKind::data,
              "the chunks in schema " + state.schema + " were made by another program",
              "TRUNCATE stoka_chunks, then run: stoka index PATH");
}

Result<> check_rights(Connection& connection, const SchemaState& state) {
  STOKA_ASSIGN(const Rows rows,
               connection.run("SELECT has_schema_privilege(current_schema(), 'CREATE'), "
                              "format('GRANT USAGE, CREATE ON SCHEMA %I TO %I', "
                              "current_schema(), current_user), current_user"));
  if (rows.boolean(0, 0)) return {};
  return fail(
      ErrorKind::config,
      fmt::format("role {} may not create tables in schema {}", rows.text(0, 2), state.schema),
      std::string(rows.text(0, 1)));
}

Result<> apply_migration(Connection& connection, const SchemaState& state,
                         const EmbeddedFile& file) {
  const auto done = connection.run(file.text);
  if (!done) {
    Error error = done.error();
    if (error.kind == ErrorKind::data && connection.sqlstate().starts_with("42")) {
      error.message =
          fmt::format("cannot make the tables in schema {}: {}", state.schema, error.message);
      error.hint =
          "it contains other objects with these names: name another schema in the URL, "
          "?options=-csearch_path%3DSCHEMA";
    }
    return fail(std::move(error));
  }
  STOKA_TRY(
      connection.run("INSERT INTO stoka_migrations (version, name) VALUES ($1::bigint, $2::text)",
                     Params().integer(migration_version(file)).text(file.name)));
  return {};
}

Result<Schema> migrate_within(Connection& connection, const DatabaseAddress& address) {
  STOKA_ASSIGN(SchemaState state, inspect(connection, address));
  if (is_newest(state)) return Schema{state.schema, *state.extension};
  STOKA_TRY(connection.run("SET LOCAL statement_timeout = 0"));
  STOKA_TRY(connection.run("SELECT pg_advisory_xact_lock(1937009003, hashtext(current_schema()))"));
  // Another process may have migrated the schema meanwhile.
  STOKA_ASSIGN(state, inspect(connection, address));
  if (is_newest(state)) return Schema{state.schema, *state.extension};
  STOKA_TRY(check_rights(connection, state));
  if (state.version == 0) STOKA_TRY(check_foreign_chunks(connection, state));
  if (!state.extension) {
    STOKA_TRY(create_extension(connection));
    STOKA_ASSIGN(state.extension, find_extension(connection));
    if (!state.extension) return fail(ErrorKind::internal, "pgvector has no type vector");
  }
  STOKA_TRY(
      connection.run("SELECT set_config('search_path', concat_ws(', ', quote_ident($1::text), "
                     "quote_ident($2::text)), true)",
                     Params().text(state.schema).text(state.extension->schema)));
  for (const EmbeddedFile& file : embedded::sql_postgres()) {
    if (migration_version(file) > state.version)
      STOKA_TRY(apply_migration(connection, state, file));
  }
  return Schema{state.schema, *state.extension};
}

Result<Schema> check_within(Connection& connection, const DatabaseAddress& address) {
  STOKA_ASSIGN(const SchemaState state, inspect(connection, address));
  if (is_newest(state)) return Schema{state.schema, *state.extension};
  if (!state.has_tables) {
    return fail(
        ErrorKind::not_found,
        fmt::format("there is no index in schema {} of {}", state.schema, address.describe()),
        "run: stoka index PATH");
  }
  return fail(ErrorKind::data,
              fmt::format("the schema {} of {} was written by an older stoka", state.schema,
                          address.describe()),
              "run: stoka index PATH");
}

void use_search_path(Database& database, const Schema& schema) {
  std::vector<std::string> path = {schema.name};
  if (schema.vector.schema != schema.name) path.push_back(schema.vector.schema);
  database.set_search_path(path);
}

}  // namespace

Result<Schema> migrate(Database& database) {
  STOKA_ASSIGN(Schema schema, database.write([&](Connection& connection) {
    return migrate_within(connection, database.address());
  }));
  use_search_path(database, schema);
  return schema;
}

Result<Schema> check_schema(Database& database) {
  STOKA_ASSIGN(Schema schema, database.read([&](Connection& connection) {
    return check_within(connection, database.address());
  }));
  use_search_path(database, schema);
  return schema;
}

}  // namespace stoka::store::postgres
