#include "store/postgres/index_lease.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <thread>

#include "store/postgres/index_state.h"
#include "store/postgres/params.h"

namespace stoka::store::postgres {
namespace {

// The server still lists the connection of a killed process for some milliseconds.
constexpr int kAttempts = 10;
constexpr std::chrono::milliseconds kPause{50};

constexpr std::string_view kRenew =
    "writer_until = clock_timestamp() + interval '10 minutes', "
    "writer_backend = pg_backend_pid(), writer_started = (SELECT backend_start "
    "FROM pg_stat_activity WHERE pid = pg_backend_pid())";

// pg_stat_activity hides backend_start of other roles' connections: a connection with the writer's
// pid may be the writer's. If the view does not even list this connection, it cannot show others.
constexpr std::string_view kIsFree =
    "writer IS NULL OR writer_until < clock_timestamp() "
    "OR (EXISTS (SELECT FROM pg_stat_activity WHERE pid = pg_backend_pid()) "
    "AND NOT EXISTS (SELECT FROM pg_stat_activity a WHERE a.pid = writer_backend "
    "AND coalesce(a.backend_start = writer_started, true)))";

std::string process_name() {
  char host[256] = {};
  if (gethostname(host, sizeof host - 1) != 0) host[0] = '\0';
  return fmt::format("{} pid {}", host[0] ? host : "unknown host", getpid());
}

// Takes the lease. Returns its new token, or nothing if another run holds the lease.
Result<std::optional<std::string>> try_take(Connection& connection) {
  // The lock is taken in a separate statement, because the next statement sees the connections that
  // exist when it begins, and it must begin after the wait for the row.
  STOKA_ASSIGN(const Rows locked, connection.run("SELECT FROM stoka_index FOR UPDATE"));
  if (locked.size() != 1) return fail(damaged());
  STOKA_ASSIGN(
      const Rows rows,
      connection.run(fmt::format("UPDATE stoka_index SET writer = gen_random_uuid(), "
                                 "writer_name = $1::text, {} WHERE {} RETURNING writer::text",
                                 kRenew, kIsFree),
                     Params().text(process_name())));
  if (rows.size() == 0) return std::optional<std::string>();
  return std::optional<std::string>(rows.text(0, 0));
}

Result<Error> holder_error(Connection& connection) {
  STOKA_ASSIGN(const Rows rows,
               connection.run("SELECT writer_name, extract(epoch FROM writer_until "
                              "- clock_timestamp())::bigint FROM stoka_index"));
  if (rows.size() != 1) return fail(damaged());
  std::string holder =
      rows.is_null(0, 0) ? "it has ended a moment ago" : std::string(rows.text(0, 0));
  std::string hint = "wait for it, or end that process";
  if (const int64_t left = rows.integer(0, 1); left > 0)
    hint += fmt::format("; if its machine is gone, the index is free in {} min", left / 60 + 1);
  return Error(ErrorKind::busy, "another index run holds the index: " + holder, std::move(hint));
}

}  // namespace

Result<IndexLease> IndexLease::acquire(Database& database) {
  for (int attempt = 1;; ++attempt) {
    const Result<std::optional<std::string>> token = database.write(try_take);
    // A busy error: the row lock is not available, because another run is in a long transaction.
    if (!token && token.error().kind != ErrorKind::busy) return fail(token.error());
    if (token && *token) return IndexLease(&database, **token);
    if (!token || attempt == kAttempts) break;
    std::this_thread::sleep_for(kPause);
  }
  STOKA_ASSIGN(Error error, database.read(holder_error));
  return fail(std::move(error));
}

IndexLease::~IndexLease() {
  if (!database_) return;
  // If the release fails, the lease is free as soon as the connection is closed.
  static_cast<void>(database_->write([&](Connection& connection) {
    return connection.run(
        "UPDATE stoka_index SET writer = NULL, writer_name = NULL, writer_backend = NULL, "
        "writer_started = NULL, writer_until = NULL WHERE writer = $1::text::uuid",
        Params().text(token_));
  }));
}

Result<IndexTotals> IndexLease::renew(Connection& connection) const {
  STOKA_ASSIGN(const Rows rows,
               connection.run(fmt::format("UPDATE stoka_index SET {} "
                                          "WHERE writer = $1::text::uuid RETURNING {}",
                                          kRenew, kTotalsColumns),
                              Params().text(token_)));
  if (rows.size() != 1) {
    return fail(ErrorKind::busy, "another index run took over the index",
                "wait until it has finished, then run this one again");
  }
  return read_totals(rows, 0);
}

}  // namespace stoka::store::postgres
