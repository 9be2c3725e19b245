// What failures of the server and of libpq mean. Decided by SQLSTATE, because servers speak many
// languages; only a refused connection has no SQLSTATE, and is known by its English text. Pure.
#pragma once

#include <string_view>

#include "base/error.h"
#include "store/postgres/database_address.h"
#include "store/postgres/connection.h"

namespace stoka::store::postgres {

struct Failure {
  Fault fault = Fault::other;
  Error error;
};

// A statement failed. `sqlstate` is empty if there was none; `text` is what the server or libpq
// said.
Failure statement_failure(std::string_view sqlstate, std::string_view text, const Address& address);

// No connection came about, or the one that was there is gone; `text` is what libpq said.
Failure connection_failure(std::string_view text, const Address& address);

}  // namespace stoka::store::postgres
