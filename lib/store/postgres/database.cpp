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

constexpr int kTries = 3;  // of a transaction that conflicts with others

// Statistics begin anew when the server recovers from a crash, and anybody may read when.
constexpr std::string_view kTicket =
    "SELECT pg_current_xact_id()::text, extract(epoch FROM stats_reset)::text FROM pg_stat_wal";
constexpr std::string_view kFate =
    "SELECT pg_xact_status($1::text::xid8), extract(epoch FROM stats_reset)::text FROM pg_stat_wal";

std::string quoted_name(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

// What must hold in every transaction, in one message. Only for this transaction, because a pooler
// may give the connection to somebody else after it. Whether writing is allowed stays as the server
// has it: a host may have made it read-only for a reason, as when its disk is nearly full.
std::string prologue(bool write, const DatabaseOptions& options, std::string_view search_path) {
  std::string out = write ? "BEGIN ISOLATION LEVEL READ COMMITTED;"
                          : "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;";
  out += fmt::format(
      "SET LOCAL statement_timeout = {};"
      "SET LOCAL lock_timeout = {};"
      "SET LOCAL idle_in_transaction_session_timeout = 60000;"
      "SET LOCAL jit = off;",
      options.statement_timeout.count() * (write ? 3 : 1), options.lock_timeout.count());
  if (!search_path.empty()) out += fmt::format("SET LOCAL search_path = {};", search_path);
  if (write) out += kTicket;
  return out;
}

DatabaseOptions usable(DatabaseOptions options) {
  options.connections = std::max<size_t>(options.connections, 1);
  return options;
}

// So that two that met do not meet again.
void pause_before(int attempt) {
  thread_local std::minstd_rand random(std::random_device{}());
  std::this_thread::sleep_for(
      milliseconds(std::uniform_int_distribution<int>(1, 20 * attempt)(random)));
}

}  // namespace

Result<std::unique_ptr<Database>> Database::open(Address address, DatabaseOptions options) {
  std::unique_ptr<Database> database(new Database(std::move(address), options));
  STOKA_ASSIGN(Lease first, database->take());
  database->give_back(std::move(first));
  return database;
}

Database::Database(Address address, DatabaseOptions options)
    : address_(std::move(address)),
      options_(usable(options)),
      gate_("the database " + address_.describe(),
            {options_.connections, options_.most_waiting, options_.most_wait}) {
  set_search_path({});
}

Database::~Database() = default;

void Database::set_search_path(const std::vector<std::string>& schemas) {
  std::string path;
  for (const std::string& schema : schemas)
    path += (path.empty() ? "" : ", ") + quoted_name(schema);
  for (const Kind kind : {Kind::read, Kind::write})
    prologues_[static_cast<size_t>(kind)] = prologue(kind == Kind::write, options_, path);
}

Result<> Database::transact(Kind kind, const Work& work) {
  STOKA_ASSIGN(const Gate::Pass pass, gate_.enter({}));
  bool broke_before = false;
  for (int conflicts = 0;;) {
    Attempt last = attempt(kind, work);
    if (last.end == End::in_doubt) {
      const Fate fate = fate_of(last.doubtful);
      if (fate == Fate::committed) return {};
      if (fate == Fate::unknown)
        return fail(ErrorKind::unavailable,
                    "it is not known whether it was stored: " + last.error.message,
                    "look whether it is there before you try again");
      last.end = End::broken;
    }
    switch (last.end) {
      case End::done:
        return {};
      case End::conflict:
        if (++conflicts == kTries) return fail(std::move(last.error));
        pause_before(conflicts);
        break;
      case End::broken:
        if (broke_before) return fail(std::move(last.error));
        broke_before = true;
        break;
      default:
        return fail(std::move(last.error));
    }
  }
}

Database::Attempt Database::attempt(Kind kind, const Work& work) {
  auto taken = take();
  if (!taken) return {End::failed, std::move(taken).error(), {}};
  Lease lease = std::move(*taken);
  Connection& connection = *lease.connection;
  const auto begun = connection.run(prologues_[static_cast<size_t>(kind)]);
  if (!begun) return ended(std::move(lease), begun.error());

  const Result<> worked = work(connection);
  if (!worked) return ended(std::move(lease), worked.error());
  // COMMIT would answer ROLLBACK, which is no error to the server.
  if (connection.fault() == Fault::conflict || connection.fault() == Fault::other)
    return ended(std::move(lease), {ErrorKind::internal,
                                    "a statement of a transaction failed and was overlooked", ""});
  Ticket ticket;
  if (kind == Kind::write)
    ticket = {std::string(begun->text(0, 0)), std::string(begun->text(0, 1))};
  return commit(std::move(lease), kind, std::move(ticket));
}

Database::Attempt Database::commit(Lease lease, Kind kind, Ticket ticket) {
  const bool sent = lease.connection->fault() != Fault::broken;
  const auto committed = lease.connection->run("COMMIT");
  if (committed) {
    give_back(std::move(lease));
    return {};
  }
  if (!sent || lease.connection->fault() != Fault::broken)
    return ended(std::move(lease), committed.error());
  broke(std::move(lease));
  // What was read is read.
  if (kind == Kind::read) return {};
  return {End::in_doubt, committed.error(), std::move(ticket)};
}

Database::Attempt Database::ended(Lease lease, Error error) {
  const Fault fault = lease.connection->fault();
  if (fault == Fault::broken) {
    broke(std::move(lease));
    return {End::broken, std::move(error), {}};
  }
  if (lease.connection->run("ROLLBACK")) {
    give_back(std::move(lease));
  } else {
    broke(std::move(lease));
  }
  return {fault == Fault::conflict ? End::conflict : End::failed, std::move(error), {}};
}

Database::Fate Database::fate_of(const Ticket& ticket) {
  constexpr milliseconds kPause(50);
  const auto until = steady_clock::now() + options_.most_doubt;
  std::unique_ptr<Connection> connection;
  for (;; std::this_thread::sleep_for(kPause)) {
    // That a connection was refused a moment ago must not settle this.
    if (!connection) {
      if (auto opened = connect()) connection = std::move(*opened);
    }
    if (connection) {
      const auto rows = connection->run(kFate, Params().text(ticket.xid));
      if (rows) {
        const std::string_view status = rows->text(0, 0);
        const bool same_life = rows->text(0, 1) == ticket.life;
        if (status == "committed") return same_life ? Fate::committed : Fate::unknown;
        if (status == "aborted") return Fate::aborted;
        if (status != "in progress") return Fate::unknown;  // too long ago
      } else if (connection->fault() == Fault::broken) {
        connection.reset();
      } else {
        // "In the future": the server has lost it with all that came after.
        return connection->sqlstate() == "22023" ? Fate::aborted : Fate::unknown;
      }
    }
    if (steady_clock::now() >= until) return Fate::unknown;
  }
}

Result<std::unique_ptr<Connection>> Database::connect() {
  auto opened = Connection::open(address_);
  const std::lock_guard lock(mutex_);
  refusal_.reset();
  if (!opened) {
    refusal_ = opened.error();
    refused_until_ = steady_clock::now() + options_.refusal_lasts;
  }
  return opened;
}

Result<Database::Lease> Database::take() {
  Lease lease;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      lease = std::move(idle_.back());
      idle_.pop_back();
      return lease;
    }
    if (refusal_ && steady_clock::now() < refused_until_) return fail(*refusal_);
    lease.epoch = epoch_;
  }
  STOKA_ASSIGN(lease.connection, connect());
  return lease;
}

void Database::give_back(Lease lease) {
  const std::lock_guard lock(mutex_);
  if (lease.epoch == epoch_) idle_.push_back(std::move(lease));
}

void Database::broke(Lease lease) {
  std::vector<Lease> gone;
  const std::lock_guard lock(mutex_);
  // Others may have found out about the same break before.
  if (lease.epoch != epoch_) return;
  ++epoch_;
  gone.swap(idle_);
}

}  // namespace stoka::store::postgres
