#include "store/postgres/database.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <string>
#include <thread>

namespace stoka::store::postgres {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr int kMaxRuns = 3;  // how often a transaction is run if it conflicts with others

// stats_reset changes when the server recovers from a crash, and every role may read it.
constexpr std::string_view kSelectTransactionId =
    "SELECT pg_current_xact_id()::text, extract(epoch FROM stats_reset)::text FROM pg_stat_wal";
constexpr std::string_view kSelectCommitStatus =
    "SELECT pg_xact_status($1::text::xid8), extract(epoch FROM stats_reset)::text FROM pg_stat_wal";

std::string quoted_name(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

// BEGIN and the settings of a transaction, in one message. SET LOCAL is used, because a pooler may
// give the server connection to another client afterwards. The server decides if writing is
// allowed: its host may have forbidden it, for example because the disk is nearly full.
std::string begin_statements(bool write, const DatabaseOptions& options,
                             std::string_view search_path) {
  std::string out = write ? "BEGIN ISOLATION LEVEL READ COMMITTED;"
                          : "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;";
  out += fmt::format(
      "SET LOCAL statement_timeout = {};"
      "SET LOCAL lock_timeout = {};"
      "SET LOCAL idle_in_transaction_session_timeout = 60000;"
      "SET LOCAL jit = off;",
      options.statement_timeout.count() * (write ? 3 : 1), options.lock_timeout.count());
  if (!search_path.empty()) out += fmt::format("SET LOCAL search_path = {};", search_path);
  if (write) out += kSelectTransactionId;
  return out;
}

DatabaseOptions with_valid_limits(DatabaseOptions options) {
  options.connections = std::max<size_t>(options.connections, 1);
  return options;
}

// Waits for a random time, so that two conflicting transactions do not conflict again.
void back_off(int attempt) {
  thread_local std::minstd_rand random(std::random_device{}());
  std::this_thread::sleep_for(
      milliseconds(std::uniform_int_distribution<int>(1, 20 * attempt)(random)));
}

}  // namespace

Result<std::unique_ptr<Database>> Database::open(DatabaseAddress address, DatabaseOptions options) {
  std::unique_ptr<Database> database(new Database(std::move(address), options));
  STOKA_ASSIGN(PooledConnection first, database->acquire());
  database->release(std::move(first));
  return database;
}

Database::Database(DatabaseAddress address, DatabaseOptions options)
    : address_(std::move(address)),
      options_(with_valid_limits(options)),
      gate_("the database " + address_.describe(),
            {options_.connections, options_.max_waiting, options_.max_wait}) {
  set_search_path({});
}

Database::~Database() = default;

void Database::set_search_path(const std::vector<std::string>& schemas) {
  std::string path;
  for (const std::string& schema : schemas)
    path += (path.empty() ? "" : ", ") + quoted_name(schema);
  for (const Kind kind : {Kind::read, Kind::write})
    begin_statements_[static_cast<size_t>(kind)] =
        begin_statements(kind == Kind::write, options_, path);
}

// A transaction that conflicted runs up to kMaxRuns times. A transaction whose connection was lost
// runs once more; a second loss means that the server is away.
//
// When the connection is lost after COMMIT was sent, the server may or may not have committed.
// Running a write again could then store it twice, and reporting an error could hide that it is
// stored; so the server is asked by the transaction's id. Only a transaction that was certainly
// aborted runs again.
Result<> Database::run_with_retries(Kind kind, const Work& work) {
  STOKA_ASSIGN(const Semaphore::Permit pass, gate_.acquire({}));
  bool lost_before = false;
  for (int conflicts = 0;;) {
    Attempt attempt = run_once(kind, work);
    if (attempt.outcome == Outcome::in_doubt) {
      const CommitStatus status = query_commit_status(attempt.id);
      if (status == CommitStatus::committed) return {};
      if (status == CommitStatus::unknown)
        return fail(ErrorKind::unavailable,
                    "it is not known whether it was stored: " + attempt.error.message,
                    "check whether it is stored before you try again");
      attempt.outcome = Outcome::connection_lost;
    }
    switch (attempt.outcome) {
      case Outcome::committed:
        return {};
      case Outcome::conflict:
        if (++conflicts == kMaxRuns) return fail(std::move(attempt.error));
        back_off(conflicts);
        break;
      case Outcome::connection_lost:
        if (lost_before) return fail(std::move(attempt.error));
        lost_before = true;
        break;
      default:
        return fail(std::move(attempt.error));
    }
  }
}

Database::Attempt Database::run_once(Kind kind, const Work& work) {
  auto acquired = acquire();
  if (!acquired) return {Outcome::failed, std::move(acquired).error(), {}};
  PooledConnection pooled = std::move(*acquired);
  Connection& connection = *pooled.connection;
  const auto begun = connection.run(begin_statements_[static_cast<size_t>(kind)]);
  if (!begun) return roll_back(std::move(pooled), begun.error());

  const Result<> worked = work(connection);
  if (!worked) return roll_back(std::move(pooled), worked.error());
  // `work` succeeded although its last statement failed. COMMIT would then roll back, and the
  // server would not call that an error.
  if (connection.failure_kind() == FailureKind::conflict ||
      connection.failure_kind() == FailureKind::other)
    return roll_back(
        std::move(pooled),
        {ErrorKind::internal, "a statement of a transaction failed and was overlooked", ""});
  TransactionId id;
  if (kind == Kind::write) id = {std::string(begun->text(0, 0)), std::string(begun->text(0, 1))};
  return commit(std::move(pooled), kind, std::move(id));
}

Database::Attempt Database::commit(PooledConnection pooled, Kind kind, TransactionId id) {
  // If the connection is lost already, run() fails without sending anything.
  const bool sent = pooled.connection->failure_kind() != FailureKind::connection_lost;
  const auto committed = pooled.connection->run("COMMIT");
  if (committed) {
    release(std::move(pooled));
    return {};
  }
  if (!sent || pooled.connection->failure_kind() != FailureKind::connection_lost)
    return roll_back(std::move(pooled), committed.error());
  discard_lost(std::move(pooled));
  // A read transaction has its rows already, and nothing to commit.
  if (kind == Kind::read) return {};
  return {Outcome::in_doubt, committed.error(), std::move(id)};
}

Database::Attempt Database::roll_back(PooledConnection pooled, Error error) {
  const FailureKind failure = pooled.connection->failure_kind();
  if (failure == FailureKind::connection_lost) {
    discard_lost(std::move(pooled));
    return {Outcome::connection_lost, std::move(error), {}};
  }
  if (pooled.connection->run("ROLLBACK")) {
    release(std::move(pooled));
  } else {
    discard_lost(std::move(pooled));
  }
  return {
      failure == FailureKind::conflict ? Outcome::conflict : Outcome::failed, std::move(error), {}};
}

// Asks for the outcome of a transaction until the server knows it, or for max_in_doubt_wait. "in
// progress" is not final: the server may still have to receive the COMMIT, or to notice that its
// client is gone.
Database::CommitStatus Database::query_commit_status(const TransactionId& id) {
  constexpr milliseconds kPollInterval(50);
  const auto until = steady_clock::now() + options_.max_in_doubt_wait;
  std::unique_ptr<Connection> connection;
  for (;; std::this_thread::sleep_for(kPollInterval)) {
    // connect() is called, because acquire() would give up at once after a refused connection.
    if (!connection) {
      if (auto opened = connect()) connection = std::move(*opened);
    }
    if (connection) {
      const auto rows = connection->run(kSelectCommitStatus, Params().text(id.xid));
      if (rows) {
        const std::string_view status = rows->text(0, 0);
        // After a crash, "committed" may refer to another transaction that was given the same xid.
        const bool same_run = rows->text(0, 1) == id.server_run;
        if (status == "committed")
          return same_run ? CommitStatus::committed : CommitStatus::unknown;
        if (status == "aborted") return CommitStatus::aborted;
        // The status is NULL if the transaction is so old that the server has forgotten it.
        if (status != "in progress") return CommitStatus::unknown;
      } else if (connection->failure_kind() == FailureKind::connection_lost) {
        connection.reset();
      } else {
        // 22023 means that the xid is in the future: the server crashed and lost the transaction.
        return connection->sqlstate() == "22023" ? CommitStatus::aborted : CommitStatus::unknown;
      }
    }
    if (steady_clock::now() >= until) return CommitStatus::unknown;
  }
}

Result<std::unique_ptr<Connection>> Database::connect() {
  auto opened = Connection::open(address_);
  const std::lock_guard lock(mutex_);
  connect_error_.reset();
  if (!opened) {
    connect_error_ = opened.error();
    next_connect_ = steady_clock::now() + options_.connect_retry_delay;
  }
  return opened;
}

Result<Database::PooledConnection> Database::acquire() {
  PooledConnection pooled;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      pooled = std::move(idle_.back());
      idle_.pop_back();
      return pooled;
    }
    if (connect_error_ && steady_clock::now() < next_connect_) return fail(*connect_error_);
    pooled.epoch = epoch_;
  }
  STOKA_ASSIGN(pooled.connection, connect());
  return pooled;
}

void Database::release(PooledConnection pooled) {
  const std::lock_guard lock(mutex_);
  if (pooled.epoch == epoch_) idle_.push_back(std::move(pooled));
}

// When one connection is lost, the server has usually lost all of them.
void Database::discard_lost(PooledConnection pooled) {
  std::vector<PooledConnection> discarded;  // closed after the mutex is unlocked
  const std::lock_guard lock(mutex_);
  // Another thread has noticed this loss before.
  if (pooled.epoch != epoch_) return;
  ++epoch_;
  discarded.swap(idle_);
}

}  // namespace stoka::store::postgres
