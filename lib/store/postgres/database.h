// Transactions on a bounded pool of PostgreSQL connections.
//
// Threads: any. A transaction has a connection for its own duration only. When none is free, the
// caller waits for at most `max_wait`; when it waited that long, or `max_waiting` callers wait
// already, it gets a busy error.
//
// Lost connections: all idle connections are closed too, and the transaction runs a second time on
// a new one. A write is repeated only if the first one was not committed. If the connection was
// lost during COMMIT, the server is asked (pg_xact_status); if it cannot tell either, the error
// says that the result is not known.
// Serialization failures and deadlocks: the transaction runs up to three times.
// Refused connections: for a second, callers that need a new connection get the same error at once.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/semaphore.h"
#include "store/postgres/connection.h"

namespace stoka::store::postgres {

struct DatabaseOptions {
  size_t connections = 5;
  size_t max_waiting = 64;  // callers in the queue for a connection
  std::chrono::milliseconds max_wait{2000};
  std::chrono::milliseconds statement_timeout{10000};  // 0: no timeout; tripled for a write
  // The lock timeout is long, because concurrent turns of one session wait for each other. 0: none.
  std::chrono::milliseconds lock_timeout{30000};
  std::chrono::milliseconds connect_retry_delay{1000};  // the pause after a connection was refused
  std::chrono::milliseconds max_in_doubt_wait{2000};    // time to find out a COMMIT's outcome
};

class Database {
 public:
  // Opens the first connection.
  static Result<std::unique_ptr<Database>> open(DatabaseAddress address, DatabaseOptions options);
  ~Database();

  // Runs `work(Connection&)` in one transaction: read() in one snapshot that cannot write, write()
  // with READ COMMITTED. `work` returns a Result; its error rolls the transaction back. `work` may
  // be run more than once.
  template <class Work>
  auto read(const Work& work) -> std::invoke_result_t<const Work&, Connection&> {
    return run(Kind::read, work);
  }
  template <class Work>
  auto write(const Work& work) -> std::invoke_result_t<const Work&, Connection&> {
    return run(Kind::write, work);
  }

  // Sets the search path of later transactions. To be called before threads share this object.
  void set_search_path(const std::vector<std::string>& schemas);

  const DatabaseAddress& address() const { return address_; }
  size_t waiting() const { return gate_.waiting(); }

 private:
  enum class Kind { read, write };
  Database(DatabaseAddress address, DatabaseOptions options);

  template <class Work>
  auto run(Kind kind, const Work& work) -> std::invoke_result_t<const Work&, Connection&> {
    std::optional<std::invoke_result_t<const Work&, Connection&>> out;
    STOKA_TRY(run_with_retries(kind, [&](Connection& connection) -> Result<> {
      out.emplace(work(connection));
      if (!*out) return fail(out->error());
      return {};
    }));
    return std::move(*out);
  }
  using Work = std::function<Result<>(Connection&)>;
  Result<> run_with_retries(Kind kind, const Work& work);

  // A connection taken from the pool. Destroying it closes the connection; release() keeps it.
  struct PooledConnection {
    std::unique_ptr<Connection> connection;
    uint64_t epoch = 0;
  };
  Result<std::unique_ptr<Connection>> connect();
  Result<PooledConnection> acquire();
  void release(PooledConnection pooled);
  void discard_lost(PooledConnection pooled);

  // Identifies a write transaction, so that another connection can ask whether it was committed.
  // After a crash the server may give the xid of a lost transaction to a new one.
  struct TransactionId {
    std::string xid;
    std::string server_run;  // an id of the server's run, which changes with every crash recovery
  };

  // How one run of a transaction ended.
  enum class Outcome {
    committed,
    failed,           // the transaction was rolled back; running it again would not help
    conflict,         // the server rolled the transaction back; running it again may succeed
    connection_lost,  // the connection was lost, and nothing was committed
    in_doubt,         // the connection was lost during COMMIT
  };
  struct Attempt {
    Outcome outcome = Outcome::committed;
    Error error;
    TransactionId id;  // the id of the transaction; only set if in doubt
  };
  Attempt run_once(Kind kind, const Work& work);
  Attempt roll_back(PooledConnection pooled, Error error);
  Attempt commit(PooledConnection pooled, Kind kind, TransactionId id);

  enum class CommitStatus { committed, aborted, unknown };
  CommitStatus query_commit_status(const TransactionId& id);

  const DatabaseAddress address_;
  const DatabaseOptions options_;
  std::array<std::string, 2> begin_statements_;  // the BEGIN statement of each Kind
  Semaphore gate_;

  std::mutex mutex_;  // guards the members declared below
  std::vector<PooledConnection> idle_;
  uint64_t epoch_ = 0;  // rises with every lost connection; older connections are not reused
  std::optional<Error> connect_error_;
  std::chrono::steady_clock::time_point next_connect_;
};

}  // namespace stoka::store::postgres
