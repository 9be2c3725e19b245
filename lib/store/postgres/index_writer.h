#pragma once

#include <memory>

#include "base/result.h"
#include "store/index_writer.h"
#include "store/postgres/database_address.h"
#include "store/postgres/schema.h"

namespace stoka::store::postgres {

// Acquires the IndexLease on a connection of its own, which shows other processes that this index
// run is alive. The writer may be used by one thread at a time, and may outlive its store. Fails
// with a busy error if another run has the lease.
Result<std::unique_ptr<IndexWriter>> make_index_writer(const DatabaseAddress& address,
                                                       const Schema& schema);

}  // namespace stoka::store::postgres
