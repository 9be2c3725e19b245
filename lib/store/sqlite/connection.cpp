#include "store/sqlite/connection.h"

#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>

#include "base/url.h"

namespace stoka::store::sqlite {
namespace {

// Busy handler: retries for about 5 s. SQLite's own handler soon polls only every 0.1 s, so that a
// turn could miss every gap between the transactions of an index run.
int wait_for_lock(void*, int attempt) {
  constexpr useconds_t kPauseUs = 500;
  constexpr int kAttempts = 10000;
  if (attempt >= kAttempts) return 0;
  usleep(kPauseUs);
  return 1;
}

// The path as a URI, because "immutable" can only be set in a URI.
std::string immutable_uri(std::string_view path) {
  return "file:" + percent_encode(path, "-._~/") + "?immutable=1";
}

std::string pragmas(Role role) {
  std::string sql =
      "PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;";
  switch (role) {
    case Role::read:
      return sql + "PRAGMA cache_size = -8192; PRAGMA query_only = ON;";
    case Role::turns:
      return sql + "PRAGMA synchronous = NORMAL;";
    case Role::index:
      return sql +
             "PRAGMA synchronous = FULL; PRAGMA cache_size = -65536; PRAGMA secure_delete = FAST;"
             "PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864;";
  }
  return sql;
}

}  // namespace

Result<std::unique_ptr<Connection>> Connection::open(const std::string& path, Role role) {
  std::unique_ptr<Connection> connection(new Connection(path));
  Result<> connected = connection->connect(path, SQLITE_OPEN_READWRITE, role);
  if (connected) return connection;
  // SQLite cannot create the side files of a WAL database in a directory that is not writable. Such
  // a database can be opened as immutable, which is safe while its log is empty.
  std::error_code ignored;
  const auto log_size = std::filesystem::file_size(path + "-wal", ignored);
  const bool log_empty = ignored || log_size == 0;
  const std::string directory = std::filesystem::path(path).parent_path().string();
  if (role == Role::read && log_empty && access(path.c_str(), R_OK) == 0 &&
      access(directory.c_str(), W_OK) != 0) {
    std::unique_ptr<Connection> fixed(new Connection(path));
    if (fixed->connect(immutable_uri(path), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, role)) {
      return fixed;
    }
  }
  return fail(std::move(connected).error());
}

Result<> Connection::connect(const std::string& name, int flags, Role role) {
  const int code = sqlite3_open_v2(name.c_str(), &handle_, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  if (code != SQLITE_OK) return fail(error(code));
  sqlite3_extended_result_codes(handle_, 1);
  sqlite3_busy_handler(handle_, wait_for_lock, nullptr);
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  STOKA_TRY(execute(pragmas(role)));
  // sqlite3_open_v2 is lazy: this query reads the header and, in WAL mode, opens the log.
  STOKA_TRY(integer("SELECT count(*) FROM sqlite_schema"));
  return {};
}

Connection::~Connection() {
  for (const auto& [sql, statement] : idle_) sqlite3_finalize(statement);
  sqlite3_close(handle_);
}

Result<> Connection::execute(const std::string& sql) {
  errno = 0;
  const int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return fail(error(code));
  return {};
}

Result<int64_t> Connection::integer(std::string_view sql) {
  Statement statement = prepare(sql);
  STOKA_ASSIGN(const bool row, statement.step());
  return row ? statement.integer(0) : 0;
}

bool Connection::read_only() const { return sqlite3_db_readonly(handle_, "main") == 1; }

int64_t Connection::last_insert_id() const { return sqlite3_last_insert_rowid(handle_); }

int64_t Connection::changes() const { return sqlite3_changes64(handle_); }

bool Connection::in_transaction() const { return sqlite3_get_autocommit(handle_) == 0; }

Error Connection::damaged() const {
  return {ErrorKind::data, "the database " + path_ + " is damaged",
          "restore it from a backup, or move it away and run: stoka index PATH"};
}

Error Connection::read_only_error() const {
  return {ErrorKind::data, "the database " + path_ + " is read-only",
          "make the file and its directory writable, or name another one with --store"};
}

Error Connection::error(int code) const {
  // SQLite records the system error of a failed open, but not always that of a failed write, which
  // is still in errno.
  const int last = errno;
  int system = handle_ ? sqlite3_system_errno(handle_) : 0;
  if (system == 0 && (code & 0xff) == SQLITE_IOERR) system = last;
  const std::string reason = handle_ ? sqlite3_errmsg(handle_) : sqlite3_errstr(code);
  const bool no_space = system == ENOSPC || system == EFBIG || system == EDQUOT;
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ErrorKind::busy, "the database " + path_ + " is being written by another process",
              "try again in a moment"};
    case SQLITE_CORRUPT:
      return damaged();
    case SQLITE_NOTADB:
      return {ErrorKind::data, path_ + " is not a database",
              "name another file with --store, or move this one away"};
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return read_only_error();
    case SQLITE_CANTOPEN:
    case SQLITE_AUTH:
      return {
          ErrorKind::data,
          "cannot open the database " + path_ + ": " + (system ? std::strerror(system) : reason),
          "check the permissions of the file and its directory"};
    case SQLITE_FULL:
    case SQLITE_IOERR:
      if (no_space || (code & 0xff) == SQLITE_FULL) {
        return {ErrorKind::data, "no space left to write the database " + path_,
                "free some space and run it again; the last transaction was rolled back"};
      }
      return {ErrorKind::data,
              "cannot read or write the database " + path_ + ": " +
                  (system ? std::strerror(system) : reason),
              "check the disk that holds it"};
    default:
      return {ErrorKind::internal, "the database " + path_ + ": " + reason, ""};
  }
}

Result<Transaction> Transaction::begin(Connection& connection, Kind kind) {
  STOKA_TRY(connection.prepare(kind == Kind::read ? "BEGIN" : "BEGIN IMMEDIATE").run());
  return Transaction(connection);
}

Transaction::~Transaction() {
  // SQLite may have rolled back by itself after an I/O error, so a failed ROLLBACK is not reported.
  if (connection_ && connection_->in_transaction()) {
    static_cast<void>(connection_->prepare("ROLLBACK").run());
  }
}

Result<> Transaction::commit() {
  STOKA_TRY(connection_->prepare("COMMIT").run());
  connection_ = nullptr;
  return {};
}

ConnectionPool::ConnectionPool(std::unique_ptr<Connection> first) : path_(first->path()) {
  idle_.push_back(std::move(first));
}

ConnectionPool::Handle::~Handle() {
  if (connection_) pool_->release(std::move(connection_));
}

Result<ConnectionPool::Handle> ConnectionPool::acquire() {
  {
    std::unique_lock lock(mutex_);
    released_.wait(lock, [this] { return !idle_.empty() || open_ < kMaxConnections; });
    if (!idle_.empty()) {
      std::unique_ptr<Connection> connection = std::move(idle_.back());
      idle_.pop_back();
      return Handle(*this, std::move(connection));
    }
    ++open_;
  }
  auto opened = Connection::open(path_, Role::read);
  if (opened) return Handle(*this, std::move(*opened));
  {
    const std::lock_guard lock(mutex_);
    --open_;
  }
  released_.notify_one();
  return fail(std::move(opened).error());
}

void ConnectionPool::release(std::unique_ptr<Connection> connection) {
  {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(connection));
  }
  released_.notify_one();
}

}  // namespace stoka::store::sqlite
