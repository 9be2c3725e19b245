// Turns failures of the server and of libpq into errors. Failures are recognised by SQLSTATE,
// because server messages are localised; only a refused connection has none and is recognised by
// its English text. Pure functions.
#pragma once

#include <string_view>

#include "base/error.h"
#include "store/postgres/connection.h"
#include "store/postgres/database_address.h"

namespace stoka::store::postgres {

struct Failure {
  FailureKind failure_kind = FailureKind::other;
  Error error;
};

// Returns the error of a failed statement. `sqlstate` may be empty; `text` is the server's message.
Failure statement_failure(std::string_view sqlstate, std::string_view text,
                          const DatabaseAddress& address);

// Returns the error of a failed or lost connection. `text` is the message of libpq.
Failure connection_failure(std::string_view text, const DatabaseAddress& address);

}  // namespace stoka::store::postgres
