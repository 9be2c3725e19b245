// One connection to the server. Used by one thread at a time. The only file of stoka that sees
// libpqxx is connection.cpp; its exceptions end there.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "store/postgres/database_address.h"
#include "store/postgres/params.h"

namespace stoka::store::postgres {

// What the last failed statement means for whoever wants to try again.
enum class Fault {
  none,
  broken,    // the connection is of no use any more
  conflict,  // serialization failure or deadlock: the same transaction may succeed
  other,
};

// The rows of an answer. Cheap to copy; lives on without the connection.
class Rows {
 public:
  Rows();
  ~Rows();
  Rows(const Rows&);
  Rows& operator=(const Rows&);

  size_t size() const;
  size_t affected() const;  // by INSERT, UPDATE, DELETE
  bool is_null(size_t row, int column) const;
  std::string_view text(size_t row, int column) const;  // empty for NULL
  int64_t integer(size_t row, int column) const;        // 0 for NULL
  double real(size_t row, int column) const;
  bool boolean(size_t row, int column) const;
  std::string bytes(size_t row, int column) const;  // of a bytea column

 private:
  friend class Connection;
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

class Connection {
 public:
  // Errors: unavailable (not there, starting, too many clients), config (password, role, database
  // unknown), each with what to do.
  static Result<std::unique_ptr<Connection>> open(const Address& address);
  ~Connection();

  // One statement with parameters.
  Result<Rows> run(std::string_view sql, const Params& params);
  // One or more statements without parameters; the rows of the last.
  Result<Rows> run(std::string_view sql);

  // Of the last call of run; none if it succeeded.
  Fault fault() const;
  // SQLSTATE of the last failed call; empty if the server said none.
  const std::string& sqlstate() const;
  int server_version() const;  // 150018

 private:
  struct Impl;
  explicit Connection(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace stoka::store::postgres
