#include <sqlite3.h>

#include <cerrno>
#include <utility>

#include "store/json_columns.h"
#include "store/sqlite/connection.h"

namespace stoka::store::sqlite {

Statement::Statement(Connection& connection, std::string sql)
    : connection_(&connection), sql_(std::move(sql)) {
  // A statement is not in the cache while it is in use, so the same SQL can be in use twice.
  if (const auto idle = connection.idle_.find(sql_); idle != connection.idle_.end()) {
    statement_ = idle->second;
    connection.idle_.erase(idle);
    return;
  }
  record_error(sqlite3_prepare_v3(connection.handle_, sql_.data(), static_cast<int>(sql_.size()),
                                  SQLITE_PREPARE_PERSISTENT, &statement_, nullptr));
}

Statement::Statement(Statement&& other) noexcept
    : connection_(other.connection_),
      sql_(std::move(other.sql_)),
      statement_(std::exchange(other.statement_, nullptr)),
      error_(other.error_),
      bound_count_(other.bound_count_) {}

Statement::~Statement() {
  if (!statement_) return;
  reset();
  if (!connection_->idle_.emplace(sql_, statement_).second) sqlite3_finalize(statement_);
}

void Statement::record_error(int code) {
  if (code != SQLITE_OK && error_ == SQLITE_OK) error_ = code;
}

Statement& Statement::bind(int64_t value) {
  record_error(sqlite3_bind_int64(statement_, ++bound_count_, value));
  return *this;
}

Statement& Statement::bind(double value) {
  record_error(sqlite3_bind_double(statement_, ++bound_count_, value));
  return *this;
}

Statement& Statement::bind(std::string_view text) {
  std::string repaired;
  if (!is_valid_text(text)) text = repaired = sanitize_text(text);
  record_error(sqlite3_bind_text64(statement_, ++bound_count_, text.empty() ? "" : text.data(),
                                   text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
  return *this;
}

Statement& Statement::bind_blob(std::string_view bytes) {
  record_error(sqlite3_bind_blob64(statement_, ++bound_count_, bytes.empty() ? "" : bytes.data(),
                                   bytes.size(), SQLITE_TRANSIENT));
  return *this;
}

Statement& Statement::bind_null() {
  record_error(sqlite3_bind_null(statement_, ++bound_count_));
  return *this;
}

Result<bool> Statement::step() {
  if (error_ != SQLITE_OK) return fail(connection_->error(error_));
  errno = 0;
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return fail(connection_->error(code));
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
  bound_count_ = 0;
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
