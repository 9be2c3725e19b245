#include <sqlite3.h>

#include <cerrno>
#include <utility>

#include "store/json_columns.h"
#include "store/sqlite/connection.h"

namespace stoka::store::sqlite {

Statement::Statement(Database& database, std::string sql)
    : database_(&database), sql_(std::move(sql)) {
  // Taken out while it is on loan, so that the same text can be used twice at once.
  if (const auto idle = database.idle_.find(sql_); idle != database.idle_.end()) {
    statement_ = idle->second;
    database.idle_.erase(idle);
    return;
  }
  note(sqlite3_prepare_v3(database.handle_, sql_.data(), static_cast<int>(sql_.size()),
                          SQLITE_PREPARE_PERSISTENT, &statement_, nullptr));
}

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_),
      sql_(std::move(other.sql_)),
      statement_(std::exchange(other.statement_, nullptr)),
      error_(other.error_),
      bound_(other.bound_) {}

Statement::~Statement() {
  if (!statement_) return;
  reset();
  if (!database_->idle_.emplace(sql_, statement_).second) sqlite3_finalize(statement_);
}

void Statement::note(int code) {
  if (code != SQLITE_OK && error_ == SQLITE_OK) error_ = code;
}

Statement& Statement::bind(int64_t value) {
  note(sqlite3_bind_int64(statement_, ++bound_, value));
  return *this;
}

Statement& Statement::bind(double value) {
  note(sqlite3_bind_double(statement_, ++bound_, value));
  return *this;
}

Statement& Statement::bind(std::string_view text) {
  std::string repaired;
  if (!is_storable(text)) text = repaired = storable(text);
  note(sqlite3_bind_text64(statement_, ++bound_, text.empty() ? "" : text.data(), text.size(),
                           SQLITE_TRANSIENT, SQLITE_UTF8));
  return *this;
}

Statement& Statement::bind_blob(std::string_view bytes) {
  note(sqlite3_bind_blob64(statement_, ++bound_, bytes.empty() ? "" : bytes.data(), bytes.size(),
                           SQLITE_TRANSIENT));
  return *this;
}

Statement& Statement::bind_null() {
  note(sqlite3_bind_null(statement_, ++bound_));
  return *this;
}

Result<bool> Statement::step() {
  if (error_ != SQLITE_OK) return fail(database_->error(error_));
  errno = 0;
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return fail(database_->error(code));
}

Result<> Statement::run() {
  for (;;) {
    STOKA_ASSIGN(const bool row, step());
    if (!row) return {};
  }
}

Statement& Statement::reset() {
  if (statement_) {
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
    error_ = SQLITE_OK;
  }
  bound_ = 0;
  return *this;
}

int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_, column); }

double Statement::real(int column) const { return sqlite3_column_double(statement_, column); }

std::string Statement::text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return text ? std::string(reinterpret_cast<const char*>(text), static_cast<size_t>(size))
              : std::string();
}

std::string_view Statement::blob(int column) const {
  const void* bytes = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return bytes ? std::string_view(static_cast<const char*>(bytes), static_cast<size_t>(size))
               : std::string_view();
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

}  // namespace stoka::store::sqlite
