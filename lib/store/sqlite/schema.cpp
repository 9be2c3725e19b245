#include "store/sqlite/schema.h"

#include <string>

#include "base/embedded.h"
#include "store/migrations.h"

namespace stoka::store::sqlite {
namespace {

int64_t newest_version() { return store::newest_version(embedded::sql_sqlite()); }

Result<int64_t> stored_version(Database& database) {
  STOKA_ASSIGN(const int64_t ours, database.integer("SELECT count(*) FROM sqlite_schema "
                                                    "WHERE name = 'stoka_migrations'"));
  STOKA_ASSIGN(const int64_t objects, database.integer("SELECT count(*) FROM sqlite_schema"));
  if (ours == 0) {
    if (objects == 0) return 0;
    return fail(ErrorKind::data, database.path() + " is a database of another program",
                "name another file with --store");
  }
  STOKA_ASSIGN(const int64_t version, database.integer("PRAGMA user_version"));
  if (version > newest_version()) {
    return fail(ErrorKind::data,
                "the database " + database.path() + " was written by a newer stoka (schema " +
                    std::to_string(version) + ", this one knows " +
                    std::to_string(newest_version()) + ")",
                "upgrade stoka, or name another file with --store");
  }
  return version;
}

Result<> apply(Database& database, const EmbeddedFile& file) {
  STOKA_ASSIGN(Transaction transaction, Transaction::begin(database, Transaction::Kind::write));
  // Another process may have been faster.
  STOKA_ASSIGN(const int64_t version, stored_version(database));
  if (version >= version_of(file)) return {};
  STOKA_TRY(database.execute(std::string(file.text)));
  STOKA_TRY(database.prepare("INSERT INTO stoka_migrations (version, name) VALUES (?, ?)")
                .bind(version_of(file))
                .bind(file.name)
                .run());
  STOKA_TRY(database.execute("PRAGMA user_version = " + std::to_string(version_of(file))));
  return transaction.commit();
}

// Of a new file only. Vectors and basis rows are 2 KB each: in pages of 4 KB every second byte
// would be empty.
constexpr const char* kPageSize = "PRAGMA page_size = 16384";

// Two processes that switch a new file to WAL at once can refuse each other without waiting.
// Waiting for the write lock lets the other one finish.
Result<> use_wal(Database& database) {
  constexpr int kAttempts = 100;
  for (int attempt = 1;; ++attempt) {
    const Result<> done = database.execute(std::string(kPageSize) + "; PRAGMA journal_mode = WAL");
    if (done || done.error().kind != ErrorKind::busy || attempt == kAttempts) return done;
    STOKA_TRY(database.execute("BEGIN IMMEDIATE; COMMIT"));
  }
}

}  // namespace

Result<> check_schema(Database& database) {
  STOKA_ASSIGN(const int64_t version, stored_version(database));
  if (version == 0) {
    return fail(ErrorKind::data, "the database " + database.path() + " holds no index",
                "run: stoka index PATH");
  }
  if (version < newest_version()) {
    return fail(ErrorKind::data,
                "the database " + database.path() + " was written by an older stoka",
                "run: stoka index PATH");
  }
  return {};
}

Result<> migrate(Database& database) {
  STOKA_ASSIGN(const int64_t version, stored_version(database));
  if (version == newest_version()) return {};
  STOKA_TRY(use_wal(database));
  for (const EmbeddedFile& file : embedded::sql_sqlite()) {
    if (version_of(file) > version) STOKA_TRY(apply(database, file));
  }
  return {};
}

}  // namespace stoka::store::sqlite
