// One connection to the SQLite file, with its prepared statements. Used by one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace stoka::store::sqlite {

class Database;

// A prepared statement on loan; destroying it gives it back. Errors of preparing and binding come
// out of the first step. Parameters are bound in order.
class Statement {
 public:
  Statement(Database& database, std::string sql);
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  Statement& bind(int64_t value);
  Statement& bind(double value);
  Statement& bind(std::string_view text);  // as storable() leaves it
  Statement& bind_blob(std::string_view bytes);
  Statement& bind_null();

  Result<bool> step();  // true: there is a row
  Result<> run();       // steps to the end
  // Ready for other parameters.
  Statement& reset();

  // Of the current row.
  int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;
  std::string_view blob(int column) const;  // until the next step
  bool is_null(int column) const;

 private:
  void note(int code);

  Database* database_;
  std::string sql_;
  sqlite3_stmt* statement_ = nullptr;
  int error_ = 0;
  int bound_ = 0;
};

enum class Role {
  read,   // cannot write
  turns,  // a commit need not wait for the disk
  index,  // a commit is on the disk
};

class Database {
 public:
  // The file must exist. Falls back to what a file or medium that cannot be written allows.
  static Result<std::unique_ptr<Database>> open(const std::string& path, Role role);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  Statement prepare(std::string_view sql) { return Statement(*this, std::string(sql)); }
  // One or more statements without parameters.
  Result<> execute(const std::string& sql);
  // First column of the first row as an integer; 0 if there is no row.
  Result<int64_t> integer(std::string_view sql);

  bool read_only() const;
  int64_t last_insert_id() const;
  // Rows that the last statement changed.
  int64_t changes() const;
  bool in_transaction() const;
  const std::string& path() const { return path_; }

  Error error(int code) const;
  Error damaged() const;
  Error read_only_error() const;

 private:
  explicit Database(std::string path) : path_(std::move(path)) {}
  Result<> connect(const std::string& name, int flags, Role role);
  friend class Statement;

  std::string path_;
  sqlite3* handle_ = nullptr;
  std::unordered_map<std::string, sqlite3_stmt*> idle_;
};

// Rolls back unless it was committed.
class Transaction {
 public:
  // read: one snapshot for all reads. write: waits for other writers at the start.
  enum class Kind { read, write };
  static Result<Transaction> begin(Database& database, Kind kind);
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

  Result<> commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;
};

}  // namespace stoka::store::sqlite
