// Connections to the SQLite file, their prepared statements and transactions. A connection is for
// one thread at a time.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace stoka::store::sqlite {

class Connection;

// A prepared statement from the cache of the connection, to which its destructor returns it.
// Parameters are bound in order. Errors of preparing and binding are reported by the first step().
class Statement {
 public:
  Statement(Connection& connection, std::string sql);
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  Statement& bind(int64_t value);
  Statement& bind(double value);
  Statement& bind(std::string_view text);  // binds the text as sanitize_text() cleans it
  Statement& bind_blob(std::string_view bytes);
  Statement& bind_null();

  Result<bool> step();  // reads the next row; false if there is none
  Result<> run();       // steps to the end of the statement
  // Resets the statement, so that other parameters can be bound.
  Statement& reset();

  // The following functions read columns of the current row.
  int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;
  std::string_view blob(int column) const;  // bytes that are valid until the next step
  bool is_null(int column) const;

 private:
  void record_error(int code);

  Connection* connection_;
  std::string sql_;
  sqlite3_stmt* statement_ = nullptr;
  int error_ = 0;
  int bound_count_ = 0;
};

enum class Role {
  read,   // a connection that cannot write
  turns,  // a connection for turns: its commits do not wait for the disk
  index,  // a connection for the index: its commits wait for the disk
};

class Connection {
 public:
  // Opens the file, which must exist; read-only if the file or its directory is not writable.
  static Result<std::unique_ptr<Connection>> open(const std::string& path, Role role);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  Statement prepare(std::string_view sql) { return Statement(*this, std::string(sql)); }
  // Executes one or more statements without parameters.
  Result<> execute(const std::string& sql);
  // The first column of the first row; 0 if there is no row.
  Result<int64_t> integer(std::string_view sql);

  bool read_only() const;
  int64_t last_insert_id() const;
  // The number of rows that the last statement changed.
  int64_t changes() const;
  bool in_transaction() const;
  const std::string& path() const { return path_; }

  Error error(int code) const;
  Error damaged() const;
  Error read_only_error() const;

 private:
  explicit Connection(std::string path) : path_(std::move(path)) {}
  Result<> connect(const std::string& name, int flags, Role role);
  friend class Statement;

  std::string path_;
  sqlite3* handle_ = nullptr;
  std::unordered_map<std::string, sqlite3_stmt*> idle_;
};

// A transaction that is rolled back when it is destroyed, unless it was committed.
class Transaction {
 public:
  // A read transaction sees one snapshot. A write transaction waits for other writers at its begin.
  enum class Kind { read, write };
  static Result<Transaction> begin(Connection& connection, Kind kind);
  Transaction(Transaction&& other) noexcept
      : connection_(std::exchange(other.connection_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

  Result<> commit();

 private:
  explicit Transaction(Connection& connection) : connection_(&connection) {}
  Connection* connection_;
};

// A pool of connections; thread safe. Opens at most kMaxConnections, and waits if all are in use.
class ConnectionPool {
 public:
  static constexpr size_t kMaxConnections = 8;

  explicit ConnectionPool(std::unique_ptr<Connection> first);

  // A connection that is returned to the pool when this object is destroyed.
  class Handle {
   public:
    Handle(ConnectionPool& pool, std::unique_ptr<Connection> connection)
        : pool_(&pool), connection_(std::move(connection)) {}
    Handle(Handle&&) noexcept = default;
    Handle& operator=(Handle&&) = delete;
    ~Handle();
    Connection& operator*() const { return *connection_; }
    Connection* operator->() const { return connection_.get(); }

   private:
    ConnectionPool* pool_;
    std::unique_ptr<Connection> connection_;
  };
  Result<Handle> acquire();

 private:
  void release(std::unique_ptr<Connection> connection);

  const std::string path_;
  std::mutex mutex_;
  std::condition_variable released_;
  std::vector<std::unique_ptr<Connection>> idle_;
  size_t open_ = 1;
};

}  // namespace stoka::store::sqlite
