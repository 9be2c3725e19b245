// Transactions on a bounded pool of connections.
//
// Threads: any. A connection is held for one transaction and no longer. Who finds none waits in
// line, no longer than `most_wait` and never more than `most_waiting` of them: busy. A connection
// that breaks is thrown away with all idle ones. A read is tried once more on a new one; a write
// too if nothing was committed, which the server is asked (pg_xact_status) when the connection
// broke during COMMIT; if it cannot tell, the error says that it is not known. Serialization
// failures and deadlocks are tried again, three times in all. After a connection was refused,
// whoever needs a new one within a second gets the same error at once.
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

#include "base/gate.h"
#include "base/result.h"
#include "store/postgres/connection.h"

namespace stoka::store::postgres {

struct DatabaseOptions {
  size_t connections = 5;
  size_t most_waiting = 64;
  std::chrono::milliseconds most_wait{2000};
  std::chrono::milliseconds statement_timeout{10000};  // 0: none; a write has three times as long
  // Turns of one session wait for each other: none is to be lost because they are many. 0: none.
  std::chrono::milliseconds lock_timeout{30000};
  std::chrono::milliseconds refusal_lasts{1000};  // so long a refused connection is not tried
  std::chrono::milliseconds most_doubt{2000};     // to find out whether a COMMIT was done
};

class Database {
 public:
  // Opens the first connection.
  static Result<std::unique_ptr<Database>> open(Address address, DatabaseOptions options);
  ~Database();

  // Runs `work(Connection&)` in one transaction: read in one snapshot that cannot write; write with
  // READ COMMITTED. The work gives a Result and may be run more than once; an error of it rolls
  // back.
  template <class Work>
  auto read(const Work& work) -> std::invoke_result_t<const Work&, Connection&> {
    return run(Kind::read, work);
  }
  template <class Work>
  auto write(const Work& work) -> std::invoke_result_t<const Work&, Connection&> {
    return run(Kind::write, work);
  }

  // Schemas that every later transaction searches for names, in this order. Call before threads.
  void set_search_path(const std::vector<std::string>& schemas);

  const Address& address() const { return address_; }
  const DatabaseOptions& options() const { return options_; }
  size_t waiting() const { return gate_.waiting(); }

 private:
  enum class Kind { read, write };
  Database(Address address, DatabaseOptions options);

  template <class Work>
  auto run(Kind kind, const Work& work) -> std::invoke_result_t<const Work&, Connection&> {
    std::optional<std::invoke_result_t<const Work&, Connection&>> out;
    STOKA_TRY(transact(kind, [&](Connection& connection) -> Result<> {
      out.emplace(work(connection));
      if (!*out) return fail(out->error());
      return {};
    }));
    return std::move(*out);
  }
  using Work = std::function<Result<>(Connection&)>;
  Result<> transact(Kind kind, const Work& work);

  // A connection on loan. Closed when it goes, unless it was given back.
  struct Lease {
    std::unique_ptr<Connection> connection;
    uint64_t epoch = 0;
  };
  Result<std::unique_ptr<Connection>> connect();
  Result<Lease> take();
  void give_back(Lease lease);
  void broke(Lease lease);

  // By which the server tells whether it committed a transaction. After a crash it may give the id
  // of one that was lost to another.
  struct Ticket {
    std::string xid;
    std::string life;  // of the server, from crash to crash
  };

  // How a transaction ended that was tried once.
  enum class End { done, failed, conflict, broken, in_doubt };
  struct Attempt {
    End end = End::done;
    Error error;
    Ticket doubtful;
  };
  Attempt attempt(Kind kind, const Work& work);
  Attempt ended(Lease lease, Error error);
  Attempt commit(Lease lease, Kind kind, Ticket ticket);

  enum class Fate { committed, aborted, unknown };
  Fate fate_of(const Ticket& ticket);

  const Address address_;
  const DatabaseOptions options_;
  std::array<std::string, 2> prologues_;  // by Kind
  Gate gate_;

  std::mutex mutex_;
  std::vector<Lease> idle_;
  uint64_t epoch_ = 0;  // rises with every break; connections of older ones are thrown away
  std::optional<Error> refusal_;
  std::chrono::steady_clock::time_point refused_until_;
};

}  // namespace stoka::store::postgres
