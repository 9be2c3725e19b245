// Who writes the index: one run at a time among all processes that use the database.
//
// A run holds the index by a token in stoka_index that every one of its transactions checks and
// renews, so whoever lost it cannot write any more. It is free when its holder lets it go, when the
// holder's connection is gone from the server, or, where connections tell nothing (behind a
// pooler), ten minutes after it was last renewed. Times are the server's.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"
#include "store/postgres/database.h"
#include "store/index_totals.h"

namespace stoka::store::postgres {

class Lease {
 public:
  // Busy if another run holds it: the message says who.
  static Result<Lease> acquire(Database& database);
  Lease(Lease&& other) noexcept
      : database_(std::exchange(other.database_, nullptr)), token_(std::move(other.token_)) {}
  Lease& operator=(Lease&&) = delete;
  ~Lease();  // lets it go if it is still held

  // To be the first statement of each of the writer's transactions: locks the row until the end and
  // gives the totals in it. Busy if another run took over.
  Result<Totals> hold(Connection& connection) const;

 private:
  Lease(Database* database, std::string token) : database_(database), token_(std::move(token)) {}

  Database* database_;
  std::string token_;
};

}  // namespace stoka::store::postgres
