// A connection to the server, for one thread at a time. Only connection.cpp uses libpqxx and
// handles its exceptions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "store/postgres/database_address.h"
#include "store/postgres/params.h"

namespace stoka::store::postgres {

// Tells whether a failed statement may succeed if its transaction is run again.
enum class FailureKind {
  none,             // the statement succeeded
  connection_lost,  // the connection is unusable; the statement may succeed on a new one
  conflict,         // serialization failure or deadlock: a repeated transaction may succeed
  other,            // any other failure: a repeated transaction would fail again
};

// The rows of a result. The object can be copied cheaply and may outlive the connection.
class Rows {
 public:
  Rows();
  ~Rows();
  Rows(const Rows&);
  Rows& operator=(const Rows&);

  size_t size() const;
  bool is_null(size_t row, int column) const;
  std::string_view text(size_t row, int column) const;  // the text of a cell; empty for NULL
  int64_t integer(size_t row, int column) const;        // the number in a cell; 0 for NULL
  double real(size_t row, int column) const;
  bool boolean(size_t row, int column) const;
  std::string bytes(size_t row, int column) const;  // the bytes of a bytea cell

 private:
  friend class Connection;
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

// One row of a result, for store/read_row.h. The result must outlive the row.
struct Row {
  const Rows& rows;
  size_t number;
  std::string_view text(int column) const { return rows.text(number, column); }
  int64_t integer(int column) const { return rows.integer(number, column); }
  bool is_null(int column) const { return rows.is_null(number, column); }
};

class Connection {
 public:
  // Opens a connection. Errors, each with a hint: unavailable (not running, starting), busy (too
  // many clients), config (unknown database or role, wrong password).
  static Result<std::unique_ptr<Connection>> open(const DatabaseAddress& address);
  ~Connection();

  // Executes one statement with parameters.
  Result<Rows> run(std::string_view sql, const Params& params);
  // Executes one or more statements without parameters; returns the rows of the last.
  Result<Rows> run(std::string_view sql);

  // How the last run() failed; none if it succeeded.
  FailureKind failure_kind() const;
  // The SQLSTATE of the last failed run(); empty if it had none.
  const std::string& sqlstate() const;
  int server_version() const;  // the version as libpq reports it: 150018 for 15.18

 private:
  struct Impl;
  explicit Connection(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace stoka::store::postgres
