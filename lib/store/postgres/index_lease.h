// The right to write the index, which one index run has at a time among all processes that use the
// database.
//
// A run holds the lease by a random token in the row of stoka_index. Each of its transactions first
// checks and renews the token under a row lock, so a run that lost the lease cannot write any more.
// The lease is free when
// - its holder has released it,
// - the holder's connection (pid and start time) is gone from pg_stat_activity, or
// - it was not renewed for ten minutes. That is the only sign behind a pooler, whose server
//   connections outlive its clients.
// All times are those of the server.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"
#include "store/index_totals.h"
#include "store/postgres/database.h"

namespace stoka::store::postgres {

class IndexLease {
 public:
  // Takes the lease. Fails with a busy error that names the holder if another run has it.
  static Result<IndexLease> acquire(Database& database);
  IndexLease(IndexLease&& other) noexcept
      : database_(std::exchange(other.database_, nullptr)), token_(std::move(other.token_)) {}
  IndexLease& operator=(IndexLease&&) = delete;
  ~IndexLease();  // releases the lease if it is still held

  // To be called first in each of the writer's transactions. Locks the row of stoka_index until the
  // transaction ends and returns its totals. Fails with a busy error if another run took it.
  Result<IndexTotals> renew(Connection& connection) const;

 private:
  IndexLease(Database* database, std::string token)
      : database_(database), token_(std::move(token)) {}

  Database* database_;
  std::string token_;
};

}  // namespace stoka::store::postgres
