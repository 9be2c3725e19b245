#include "store/sqlite/schema.h"

#include <string>

#include "base/embedded.h"
#include "store/migrations.h"

namespace stoka::store::sqlite {
namespace {

int64_t latest_version() { return store::latest_migration_version(embedded::sql_sqlite()); }

Result<int64_t> stored_version(Connection& connection) {
  STOKA_ASSIGN(const int64_t has_migrations,
               connection.integer("SELECT count(*) FROM sqlite_schema "
                                  "WHERE name = 'stoka_migrations'"));
  STOKA_ASSIGN(const int64_t objects, connection.integer("SELECT count(*) FROM sqlite_schema"));
  if (has_migrations == 0) {
    if (objects == 0) return 0;
    return fail(ErrorKind::data, connection.path() + " is a database of another program",
                "name another file with --store");
  }
  STOKA_ASSIGN(const int64_t version, connection.integer("PRAGMA user_version"));
  if (version > latest_version()) {
    return fail(ErrorKind::data,
                "the database " + connection.path() + " was written by a newer stoka (schema " +
                    std::to_string(version) + ", this one knows " +
                    std::to_string(latest_version()) + ")",
                "upgrade stoka, or name another file with --store");
  }
  return version;
}

Result<> apply_migration(Connection& connection, const EmbeddedFile& file) {
  STOKA_ASSIGN(Transaction transaction, Transaction::begin(connection, Transaction::Kind::write));
  // Another process may have applied this migration meanwhile.
  STOKA_ASSIGN(const int64_t version, stored_version(connection));
  if (version >= migration_version(file)) return {};
  STOKA_TRY(connection.execute(std::string(file.text)));
  STOKA_TRY(connection.prepare("INSERT INTO stoka_migrations (version, name) VALUES (?, ?)")
                .bind(migration_version(file))
                .bind(file.name)
                .run());
  STOKA_TRY(connection.execute("PRAGMA user_version = " + std::to_string(migration_version(file))));
  return transaction.commit();
}

// Sets a larger page size; this takes effect in a new file only. Vectors and basis rows have 2 KB
// each, which would leave half of every 4 KB page empty.
constexpr const char* kPageSize = "PRAGMA page_size = 16384";

// When two processes switch a new file to WAL at once, SQLite reports busy without waiting. BEGIN
// IMMEDIATE waits for the write lock, until the other process has finished.
Result<> enable_wal(Connection& connection) {
  constexpr int kAttempts = 100;
  for (int attempt = 1;; ++attempt) {
    const Result<> done =
        connection.execute(std::string(kPageSize) + "; PRAGMA journal_mode = WAL");
    if (done || done.error().kind != ErrorKind::busy || attempt == kAttempts) return done;
    STOKA_TRY(connection.execute("BEGIN IMMEDIATE; COMMIT"));
  }
}

}  // namespace

Result<> check_schema(Connection& connection) {
  STOKA_ASSIGN(const int64_t version, stored_version(connection));
  if (version == 0) {
    return fail(ErrorKind::data, "the database " + connection.path() + " holds no index",
                "run: stoka index PATH");
  }
  if (version < latest_version()) {
    return fail(ErrorKind::data,
                "the database " + connection.path() + " was written by an older stoka",
                "run: stoka index PATH");
  }
  return {};
}

Result<> migrate(Connection& connection) {
  STOKA_ASSIGN(const int64_t version, stored_version(connection));
  if (version == latest_version()) return {};
  STOKA_TRY(enable_wal(connection));
  for (const EmbeddedFile& file : embedded::sql_sqlite()) {
    if (migration_version(file) > version) STOKA_TRY(apply_migration(connection, file));
  }
  return {};
}

}  // namespace stoka::store::sqlite
